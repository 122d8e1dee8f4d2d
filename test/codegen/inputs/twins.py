"""twins.py CASE OUT - run a compiled program on its ranks and compare with numpy.

Runs OUT in one process and, when it has several ranks, under mpirun. Inputs are
small integers, so that every result is exact.
"""

import json
import os
import subprocess
import sys

import numpy as np


def integers(*shape, seed=0):
    return np.random.RandomState(seed).randint(-4, 5, shape).astype(np.float32)


def collectives():
    x = integers(4, 6)
    blocks = [x[:2, :3], x[:2, 3:], x[2:, :3], x[2:, 3:]]
    return {"x": x}, {
        "sum": sum(blocks),
        "all": x,
        "part": x[:2],
        "turned": np.stack([blocks[0][0], blocks[1][0]]),
        "index": np.array([3]),
    }


def matmul():
    x, w, b, r = integers(2, 3, 4), integers(4, 2, 5, seed=1), integers(2, 5, seed=2), integers(2, 3, 10, seed=3)
    y = np.einsum("bsk,khd->bshd", x, w)
    full = np.maximum((y + b).reshape(2, 3, 10) + r, 0)
    heads = y.transpose(0, 2, 1, 3)
    scores = np.einsum("bhsd,bhtd->bhst", heads, heads)
    return {"x": x, "w": w, "b": b, "r": r}, {"full": full, "heads": heads, "scores": 2 * scores}


def conv():
    x, w, b = integers(1, 2, 4, 4), integers(3, 2, 2, 2, seed=1), integers(3, seed=2)
    y = np.zeros((1, 3, 2, 2), np.float32)
    for i in range(2):
        for j in range(2):
            window = x[0, :, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            y[0, :, i, j] = np.tensordot(w, window, 3) + b
    return {"x": x, "w": w, "b": b}, {"y": np.maximum(y, 0)}


def state():
    # Three steps from 0: each adds x and the table, the output is the value before.
    x = integers(2, 3)
    return {"x": x}, {"before": 2 * (x + np.arange(6).reshape(2, 3))}


def shards():
    # Rank r holds rows 2r and 2r + 1 of 5, and column block r of 3 in blocks of 2.
    w, v = np.arange(15.0).reshape(5, 3), np.arange(12.0).reshape(2, 6)
    padded = np.zeros((6, 3), np.float32)
    padded[:5] = w
    return {}, {"w": padded, "v": v}


def chunks():
    x = integers(6, 2)
    return {"x": x}, {"sum": x.sum(axis=0), "squares": x * x}


def run(out, expected, files, loopback):
    flags = ["--loopback"] if loopback else []
    repeat = ["--repeat", "3"] if os.path.basename(out).startswith("state") else []
    command = ["cleave", "run", out, *flags, *repeat, "--output", files[1]]
    subprocess.run([*command, *files[0]], check=True, stdout=subprocess.DEVNULL)
    found = np.load(files[1])
    for name, value in expected.items():
        if not np.array_equal(found[name], value):
            sys.exit(f"{name}: found\n{found[name]}\nexpected\n{value}")


case, out = sys.argv[1:]
inputs, expected = globals()[case]()
files = (["--input", out + ".in.npz"] if inputs else [], out + ".out.npz")
np.savez(out + ".in.npz", **inputs)
run(out, expected, files, True)
with open(os.path.join(out, "manifest.json")) as manifest:
    if json.load(manifest)["world"] > 1:
        run(out, expected, files, False)
