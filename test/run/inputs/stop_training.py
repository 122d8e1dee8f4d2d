"""Starts a long training run, stops it by SIGTERM, and goes on for one step.

stop_training.py OUT INPUT.npz DIR
"""

import os
import signal
import subprocess
import sys
import time


def main():
    out, inputs, folder = sys.argv[1:]
    command = ["cleave", "run", out, "--input", inputs, "--checkpoint", folder, "--steps"]
    first = subprocess.Popen(command + ["1000000", "--checkpoint-every", "20"],
                             stderr=subprocess.PIPE, text=True)
    while not (os.path.isdir(folder) and any(n.startswith("step-") for n in os.listdir(folder))):
        time.sleep(0.02)
        assert first.poll() is None, first.communicate()
    first.send_signal(signal.SIGTERM)
    _, text = first.communicate(timeout=60)
    print("exit code", first.returncode)
    print(text.strip())
    last = sorted(name for name in os.listdir(folder) if name.startswith("step-"))[-1]
    steps = str(int(last.removeprefix("step-")) + 1)
    again = subprocess.run(command + [steps, "--resume"], capture_output=True, text=True)
    print("resumed: exit code", again.returncode, again.stderr)


main()
