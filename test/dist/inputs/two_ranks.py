"""two_ranks.py - the folder OUT of the hand-written program TwoRanks.cpp.

usage: two_ranks.py make BUILD OUT      writes OUT and, in it, x.npz and bad inputs
       two_ranks.py check OUT Y.npz STEPS
"""

import json
import os
import shutil
import struct
import sys

import numpy as np

X = np.arange(35, dtype=np.float32).reshape(5, 7) % 5
W = np.arange(42, dtype=np.float32).reshape(7, 6) % 7 - 3
B = np.arange(6, dtype=np.float32)


def write_safetensors(path, tensors):
    header, offset = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape),
                        "data_offsets": [offset, offset + value.nbytes]}
        offset += value.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            file.write(value.tobytes())


def manifest():
    whole = [{"axes": [], "chunk": 0}]
    state = [{"name": name, "dtype": "f32", "shape": shape, "mutable": name == "steps"}
             for name, shape in [("w", [4, 6]), ("b", [6]), ("steps", [1])]]
    return {
        "format": 1, "build": "by hand", "plan": "tp2", "model": "two ranks", "world": 2,
        "axes": ["tp"], "axisSizes": [2],
        "programs": [{
            "name": "p0", "file": "programs/p0.so", "identity": "two-ranks-1",
            "inputs": [{"index": 0, "shape": [5, 4], "split": whole + [{"axes": [0], "chunk": 4}]}],
            "outputs": [{"index": 0, "shape": [5, 6], "split": whole * 2},
                        {"index": 1, "shape": [1], "split": [{"axes": [0], "chunk": 1}]},
                        {"index": 2, "shape": [1], "split": whole}],
            "state": state}],
        "ranks": [{"program": 0, "coords": [r], "weights": f"weights/w{r}.safetensors"} for r in (0, 1)],
        "groups": [[[0, 1]]], "routes": [[[0, 1]], [[1, 0]]],
        "inputs": [{"name": "x", "dtype": "f32", "shape": [5, 7]}],
        "outputs": [{"name": "y", "dtype": "f32", "shape": [5, 6], "owner": 1},
                    {"name": "seen", "dtype": "f32", "shape": [2], "owner": 0},
                    {"name": "steps", "dtype": "f32", "shape": [1], "owner": 0}],
        "files": [], "arenaBytes": [120],
    }


def make(build, out):
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("programs", "weights", "lib"):
        os.makedirs(os.path.join(out, folder))
    with open(os.path.join(out, "manifest.json"), "w") as file:
        json.dump(manifest(), file)
    padded = np.concatenate([W, np.full((1, 6), 99, np.float32)])
    for rank in (0, 1):
        shutil.copy(os.path.join(build, "test/dist/two-ranks-main"), os.path.join(out, f"rank-{rank}"))
        write_safetensors(os.path.join(out, f"weights/w{rank}.safetensors"), {
            "w": padded[rank * 4:rank * 4 + 4], "b": B, "steps": np.zeros(1, np.float32)})
    shutil.copy(os.path.join(build, "bin/cleave_launch"), os.path.join(out, "launch"))
    shutil.copy(os.path.join(build, "test/dist/two-ranks.so"), os.path.join(out, "programs/p0.so"))
    for name in ("libcleave_rt.so", "libcleave_mpi.so"):
        shutil.copy(os.path.join(build, "lib", name), os.path.join(out, "lib"))
    np.savez(os.path.join(out, "x.npz"), x=X)
    np.savez(os.path.join(out, "wrong.npz"), x=X.astype(np.float64)[:4], z=X)
    np.savez(os.path.join(out, "negative.npz"), x=X - 1)


def check(out, result, steps):
    found = np.load(result)
    np.testing.assert_array_equal(found["y"], X @ W + B)
    np.testing.assert_array_equal(found["seen"], [100, 7])
    np.testing.assert_array_equal(found["steps"], [steps])


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3])
else:
    check(sys.argv[2], sys.argv[3], float(sys.argv[4]))
