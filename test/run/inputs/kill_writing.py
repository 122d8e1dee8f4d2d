"""Kills training runs while they write checkpoints, and goes on from what is left.

kill_writing.py OUT INPUT.npz DIR TIMES

Each run writes a checkpoint after every step, first over those of the run before; it is
killed at a moment that is drawn. There has to be a whole checkpoint then, and a run that
goes on from it for one step has to give the same bits as one that was never stopped.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import numpy as np


def find_steps(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(int(name.removeprefix("step-")) for name in names if name.startswith("step-"))


def start_and_kill(command, folder, delay):
    """Kills all ranks, which are threads of one process. Whether it was in the middle of writing."""
    before = find_steps(folder)
    run = subprocess.Popen(command + ["--steps", "100000", "--checkpoint-every", "1"], start_new_session=True,
                           stderr=subprocess.PIPE, text=True)
    if not before:
        while not find_steps(folder):
            assert run.poll() is None, run.communicate()
            time.sleep(0.005)
    time.sleep(delay)
    assert run.poll() is None, run.communicate()
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    after = find_steps(folder)
    assert set(before) <= set(after), (before, after)
    return any(name.startswith(".step-") for name in os.listdir(folder))


def go_on(command, folder, output):
    steps = find_steps(folder)[-1] + 1
    subprocess.run(command + ["--steps", str(steps), "--resume", "--output", output], check=True,
                   stdout=subprocess.DEVNULL)
    whole = folder + ".whole.npz"
    subprocess.run(command[:-2] + ["--steps", str(steps), "--output", whole], check=True,
                   stdout=subprocess.DEVNULL)
    found, expected = np.load(output)["loss"], np.load(whole)["loss"]
    assert found == expected, (steps, found, expected)
    shutil.rmtree(f"{folder}/step-{steps:08}")


def main():
    out, inputs, folder, times = sys.argv[1:]
    command = ["cleave", "run", out, "--loopback", "--input", inputs, "--checkpoint", folder]
    draw = random.Random(0)
    caught = 0
    for _ in range(int(times)):
        caught += start_and_kill(command, folder, draw.uniform(0.3, 0.6))
        go_on(command, folder, folder + ".npz")
    assert caught, "no run was killed while it wrote"
    print("went on after each of", times)


main()
