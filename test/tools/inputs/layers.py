"""layers.py VERB FILE - data: the input of layers.mlir; raw: the same, raw; damaged: with
one bit wrong; expected [OFF]: its output by hand, one value off by OFF; check: compare
with the output by hand."""

import sys

import numpy as np

X = (np.arange(32) % 7 - 2).reshape(4, 8).astype(np.float32)

# Every column of the first product is a quarter of the row's sum, and every column of
# the second half of 64 of these.
Y = np.repeat(32 * np.maximum(X.sum(axis=1, keepdims=True) / 4, 0), 8, axis=1)

if sys.argv[1] == "data":
    np.savez(sys.argv[2], x=X)
elif sys.argv[1] == "raw":
    X.tofile(sys.argv[2])
elif sys.argv[1] == "expected":
    if len(sys.argv) > 3:
        Y[2, 3] += float(sys.argv[3]) * np.abs(Y).max()
    np.savez(sys.argv[2], y=Y)
elif sys.argv[1] == "damaged":
    np.savez(sys.argv[2], x=X)
    data = bytearray(open(sys.argv[2], "rb").read())
    data[data.index(X.tobytes())] ^= 1
    open(sys.argv[2], "wb").write(data)
else:
    is_raw = sys.argv[2].endswith(".bin")
    found = np.fromfile(sys.argv[2], np.float32).reshape(Y.shape) if is_raw else np.load(sys.argv[2])["y"]
    if not np.array_equal(found, Y):
        sys.exit(f"found\n{found}\nexpected\n{Y}")
