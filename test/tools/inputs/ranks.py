"""ranks.py - start `cleave run` and find its ranks."""

import os
import subprocess
import time


def start(out, data, *flags):
    command = ["cleave", "run", out, "--input", data, "--repeat", "100000000", "--threads", "1"]
    return subprocess.Popen([*command, *flags], stderr=subprocess.PIPE, text=True)


def find(executable):
    """The first process that runs `executable`; none when there is none."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == executable:
                return int(pid)
        except OSError:
            pass
    return None


def has_run(pid):
    """True once a process has used a second of processor time: start-up takes less."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system) >= os.sysconf("SC_CLK_TCK")


def wait_for(find_process):
    """The process that `find_process` finds, once it runs steps; none after 60 s."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pid = find_process()
        if pid is not None and has_run(pid):
            return pid
        time.sleep(0.05)
    return None
