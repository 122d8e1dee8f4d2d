"""The numbers of perceptron.mlir by the formulas of the textbook, in float64.

perceptron.py data FILE       writes the input
perceptron.py check FILE N    compares the outputs of step N (from 1) with them
perceptron.py weights DIR N   compares the weights of a checkpoint after N steps
"""

import json
import os
import sys

import numpy as np

RATE = 0.5
X = np.array([[1.0, 2.0, -1.0], [0.5, -1.5, 2.0], [-2.0, 1.0, 0.0], [3.0, -0.5, 1.0]])
LABELS = np.array([3, 0, 4, 1])


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def get_weights():
    return {
        "w1": np.array([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8], [-0.9, 1.0, 0.2, -0.4]]),
        "b1": np.array([0.1, 0.2, -0.1, 0.0]),
        "w2": np.array([[0.3, -0.1, 0.2, 0.5, -0.4], [0.7, 0.1, -0.3, 0.2, 0.6],
                        [-0.5, 0.4, 0.1, -0.2, 0.3], [0.2, -0.6, 0.8, 0.1, -0.1]]),
        "b2": np.array([0.0, 0.1, -0.2, 0.3, -0.1]),
    }


def run(w):
    """Returns loss, logits and the gradients by name."""
    z = X @ w["w1"] + w["b1"]
    h = np.maximum(z, 0)
    y = h @ w["w2"] + w["b2"]
    p = softmax(y)
    dy = (p - np.eye(5)[LABELS]) / 4
    dz = (dy @ w["w2"].T) * (z > 0)
    gradients = {"w1": X.T @ dz, "b1": dz.sum(axis=0), "w2": h.T @ dy, "b2": dy.sum(axis=0)}
    return -np.log(p[np.arange(4), LABELS]).mean(), y, gradients


def get_loss_and_gradients(w):
    loss, _, gradients = run(w)
    return loss, gradients


def train(steps):
    """Returns loss and logits of each step of gradient descent, and the weights."""
    w, history = get_weights(), []
    for _ in range(steps):
        loss, y, gradients = run(w)
        history.append((loss, y))
        w = {name: value - RATE * gradients[name] for name, value in w.items()}
    return history, w


def read_safetensors(file):
    with open(file, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        table = json.loads(stream.read(length))
        data = stream.read()
    table.pop("__metadata__", None)
    for name, entry in table.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", entry
        yield name, np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])


def read_checkpoint(folder):
    """Whole tensors, each from the file that the index says."""
    with open(os.path.join(folder, "model", "model.safetensors.index.json")) as stream:
        index = json.load(stream)
    tensors = {}
    for file in sorted(set(index["weight_map"].values())):
        tensors.update(read_safetensors(os.path.join(folder, "model", file)))
    assert tensors.keys() == index["weight_map"].keys()
    assert index["metadata"]["total_size"] == sum(value.nbytes for value in tensors.values())
    return tensors


def main():
    if sys.argv[1] == "data":
        np.savez(sys.argv[2], x=X.astype(np.float32), labels=LABELS)
        return
    if sys.argv[1] == "weights":
        found = read_checkpoint(sys.argv[2])
        _, weights = train(int(sys.argv[3]))
        assert found.keys() == weights.keys(), found.keys()
        for name, expected in weights.items():
            assert np.abs(found[name] - expected).max() < 1e-6, f"{name}: {found[name]}"
        print("the weights are those computed by hand")
        return
    found = np.load(sys.argv[2])
    loss, logits = train(int(sys.argv[3]))[0][-1]
    for name, expected in [("loss", loss), ("logits", logits)]:
        error = np.abs(found[name] - expected).max() / np.abs(expected).max()
        assert error < 1e-6, f"{name}: {found[name]} expected {expected}"
    print(f"loss {loss:.6f} as computed by hand")


if __name__ == "__main__":
    main()
