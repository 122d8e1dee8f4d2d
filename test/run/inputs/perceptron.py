"""The numbers of perceptron.mlir by the formulas of the textbook, in float64.

perceptron.py data FILE       writes the input
perceptron.py check FILE N    compares the outputs of step N (from 1) with them
"""

import sys

import numpy as np

RATE = 0.5
X = np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0], [-2.0, 1.0, 0.0], [3.0, -0.5, 1.0]])
LABELS = np.array([3, 0, 4, 1])


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def train(steps):
    """Returns loss and logits of each step of gradient descent."""
    w1 = np.array([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8], [-0.9, 1.0, 0.2, -0.4]])
    b1 = np.array([0.1, 0.2, -0.1, 0.0])
    w2 = np.array([[0.3, -0.1, 0.2, 0.5, -0.4], [0.7, 0.1, -0.3, 0.2, 0.6],
                   [-0.5, 0.4, 0.1, -0.2, 0.3], [0.2, -0.6, 0.8, 0.1, -0.1]])
    b2 = np.array([0.0, 0.1, -0.2, 0.3, -0.1])
    history = []
    for _ in range(steps):
        z = X @ w1 + b1
        h = np.maximum(z, 0)
        y = h @ w2 + b2
        p = softmax(y)
        history.append((-np.log(p[np.arange(4), LABELS]).mean(), y))
        dy = (p - np.eye(5)[LABELS]) / 4
        dz = (dy @ w2.T) * (z > 0)
        w2, b2 = w2 - RATE * h.T @ dy, b2 - RATE * dy.sum(axis=0)
        w1, b1 = w1 - RATE * X.T @ dz, b1 - RATE * dz.sum(axis=0)
    return history


def main():
    if sys.argv[1] == "data":
        np.savez(sys.argv[2], x=X.astype(np.float32), labels=LABELS)
        return
    found = np.load(sys.argv[2])
    loss, logits = train(int(sys.argv[3]))[-1]
    for name, expected in [("loss", loss), ("logits", logits)]:
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-6, f"{name}: {found[name]} expected {expected}"
    print(f"loss {loss:.6f} as computed by hand")


main()
