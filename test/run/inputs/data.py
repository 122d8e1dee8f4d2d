"""Trains layers.onnxtxt by the formulas, in float64, on the batches that --data must give.

data.py make DIR                     writes the samples
data.py check LOG LOSS SEED STEPS    compares the losses of a log, from step 1 on, with them

The order of samples is computed as the paper of the swap-or-not shuffle has it (CRYPTO 2012,
figure 1), with SplitMix64 for its keys and bits.
"""

import json
import os
import sys

import numpy as np

BATCH, SAMPLES, RATE, IGNORED = 4, 10, 0.5, -100
W1 = np.array([[0.1, -0.2, 0.3, 0.4], [0.5, 0.6, -0.7, 0.8], [-0.9, 1.0, 0.2, -0.4]])
W2 = np.array([[0.3, -0.1, 0.2, 0.5, -0.4], [0.7, 0.1, -0.3, 0.2, 0.6],
               [-0.5, 0.4, 0.1, -0.2, 0.3], [0.2, -0.6, 0.8, 0.1, -0.1]])


def make_samples():
    random = np.random.default_rng(1)
    labels = random.integers(0, 5, SAMPLES)
    labels[[2, 7]] = IGNORED
    return {"x": random.normal(size=(SAMPLES, 3)).astype(np.float32), "labels": labels,
            "targets": random.uniform(size=(SAMPLES, 5)).astype(np.float32)}


def mix(x):
    mask = 2**64 - 1
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
    return x ^ x >> 31


def get_order(seed, epoch):
    step, mask = 0x9E3779B97F4A7C15, 2**64 - 1
    state = mix((mix((seed + step) & mask) + epoch) & mask)
    rounds = []
    for _ in range(6 * SAMPLES.bit_length()):
        state = (state + step) & mask
        key = mix(state)
        state = (state + step) & mask
        rounds.append((key, mix(state) % SAMPLES))
    order = []
    for x in range(SAMPLES):
        for key, pivot in rounds:
            other = (pivot - x) % SAMPLES
            x = other if mix((key + max(x, other)) & mask) & 1 else x
        order.append(x)
    return order


def list_batches(seed, steps):
    batches, epoch = [], 0
    while len(batches) < steps:
        order = get_order(seed, epoch)
        assert sorted(order) == list(range(SAMPLES))
        batches += [order[i : i + BATCH] for i in range(0, SAMPLES, BATCH)]
        epoch += 1
    return batches[:steps]


def get_loss(kind, y, labels, targets):
    """Returns the mean loss and its gradient by y."""
    if kind == "mse":
        return np.mean((y - targets) ** 2), 2 * (y - targets) / y.size
    if kind == "bce":
        p = 1 / (1 + np.exp(-y))
        loss = -np.mean(targets * np.log(p) + (1 - targets) * np.log(1 - p))
        return loss, (p - targets) / y.size
    counts = labels != IGNORED
    e = np.exp(y - y.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    rows = np.flatnonzero(counts)
    dy = p * counts[:, None]
    dy[rows, labels[rows]] -= 1
    return -np.log(p[rows, labels[rows]]).sum() / max(len(rows), 1), dy / max(len(rows), 1)


def train(kind, seed, steps):
    samples, w1, w2, losses = make_samples(), W1, W2, []
    for batch in list_batches(seed, steps):
        x = samples["x"][batch].astype(np.float64)
        z = x @ w1
        h = np.maximum(z, 0)
        loss, dy = get_loss(kind, h @ w2, samples["labels"][batch], samples["targets"][batch])
        losses.append(loss)
        dz = (dy @ w2.T) * (z > 0)
        w1, w2 = w1 - RATE * x.T @ dz, w2 - RATE * h.T @ dy
    return losses


def main():
    if sys.argv[1] == "make":
        folder, samples = sys.argv[2], make_samples()
        np.savez(os.path.join(folder, "classes.npz"), x=samples["x"], labels=samples["labels"])
        for name, array in samples.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        np.save(os.path.join(folder, "few.npy"), samples["targets"][:9])
        dense = np.where(samples["labels"] == IGNORED, 0, samples["labels"])
        np.savez(os.path.join(folder, "dense.npz"), x=samples["x"], labels=dense)
        np.savez(os.path.join(folder, "three.npz"), x=samples["x"][:3], labels=dense[:3])
        return
    log, kind, seed, steps = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    with open(log) as stream:
        lines = [json.loads(line) for line in stream]
    assert [line["step"] for line in lines] == list(range(1, steps + 1)), lines
    for line, expected in zip(lines, train(kind, seed, steps)):
        assert abs(line["loss"] - expected) < 2e-6 * abs(expected), (line, expected)
        assert line["samples_per_s"] > 0 and line["peak_memory_bytes"] > 2**20, line
    print(f"{steps} steps have the losses of the formulas")


main()
