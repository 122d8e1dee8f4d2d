"""The losses of regression.onnxtxt under gradient descent, in float64.

regression.py data FILE       writes the input
regression.py check FILE N    compares the loss of step N (from 1)
"""

import sys

import numpy as np

RATE = 0.1
X = np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0], [-2.0, 1.0, 0.0], [3.0, -0.5, 1.0]])
TARGET = np.array([[1.0, 0.0], [-1.0, 2.0], [0.5, 0.5], [2.0, -3.0]])


def train(steps):
    w, b = np.array([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0]]), np.array([0.1, -0.2])
    for _ in range(steps):
        d = X @ w + b - TARGET
        loss = 0.125 * (d * d).sum()
        w, b = w - RATE * 0.25 * X.T @ d, b - RATE * 0.25 * d.sum(axis=0)
    return loss


if sys.argv[1] == "data":
    np.savez(sys.argv[2], x=X.astype(np.float32), target=TARGET.astype(np.float32))
else:
    found, expected = np.load(sys.argv[2])["loss"], train(int(sys.argv[3]))
    assert abs(found - expected) < 1e-6 * expected, f"loss {found}, expected {expected}"
    print(f"loss {expected:.6f} as computed by hand")
