"""killed_rank.py OUT INPUT - run OUT, kill rank 1 once it runs, and print how that ends.

A rank runs when it has used a second of processor time: start-up takes less. One
that is killed while it starts may leave Open MPI's mpirun waiting for a lock of its
own for ever, which is not what is tested.
"""

import os
import signal
import subprocess
import sys
import time

out, data = sys.argv[1:]
command = ["cleave", "run", out, "--input", data, "--repeat", "100000000", "--threads", "1"]
run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
executable = os.path.realpath(f"{out}/rank-1")


def find_rank():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == executable:
                return int(pid)
        except OSError:
            pass
    return None


def has_run(pid):
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system) >= os.sysconf("SC_CLK_TCK")


deadline = time.monotonic() + 30
while ((pid := find_rank()) is None or not has_run(pid)) and time.monotonic() < deadline:
    time.sleep(0.05)
if pid is None:
    run.terminate()
    sys.exit("rank 1 did not start")
os.kill(pid, signal.SIGKILL)
print(run.communicate(timeout=60)[1], end="")
print("exit code", run.returncode)
