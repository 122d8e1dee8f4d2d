"""layers.py data|check|damaged FILE - the input of layers.mlir, its output by hand, and
the input with one bit wrong."""

import sys

import numpy as np

X = (np.arange(32) % 7 - 2).reshape(4, 8).astype(np.float32)

if sys.argv[1] == "data":
    np.savez(sys.argv[2], x=X)
elif sys.argv[1] == "damaged":
    np.savez(sys.argv[2], x=X)
    data = bytearray(open(sys.argv[2], "rb").read())
    data[data.index(X.tobytes())] ^= 1
    open(sys.argv[2], "wb").write(data)
else:
    # Every column of the first product is a quarter of the row's sum, and every
    # column of the second half of 64 of these.
    expected = np.repeat(32 * np.maximum(X.sum(axis=1, keepdims=True) / 4, 0), 8, axis=1)
    found = np.load(sys.argv[2])["y"]
    if not np.array_equal(found, expected):
        sys.exit(f"found\n{found}\nexpected\n{expected}")
