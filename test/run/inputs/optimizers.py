"""optimizers.py WORK MODEL [FLAGS PLANS]: trains the perceptron with each optimizer, cut in several ways, and
compares the loss of each of 25 steps with the formulas of PyTorch's documentation (of LAMB:
of its paper), in float64. FLAGS are more flags of compile; PLANS is how many ways to cut it.
"""

import json
import os
import subprocess
import sys

import numpy as np

import perceptron
from perceptron import LABELS, get_loss_and_gradients, get_weights

# Moved a little: by sign-like steps, round numbers would lead to zeros before the relu.
X = perceptron.X + np.random.default_rng(0).uniform(-0.1, 0.1, perceptron.X.shape).astype(np.float32)
perceptron.X = X

STEPS = 25
PLANS = ["", "--tp 2", "--dp 2", "--pp 2", "--pp 2 --microbatches 2"]


def sgd(w, g, s, t, rate, decay, momentum=0.0, nesterov=False):
    g = g + decay * w
    s["v"] = momentum * s.get("v", 0) + g
    return w - rate * (g + momentum * s["v"] if nesterov else s["v"])


def adagrad(w, g, s, t, rate, decay):
    g = g + decay * w
    s["sum"] = s.get("sum", 0) + g * g
    return w - rate * g / (np.sqrt(s["sum"]) + 1e-10)


def moments(g, s, t, epsilon):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    return s["m"] / (1 - 0.9**t) / (np.sqrt(s["v"] / (1 - 0.999**t)) + epsilon)


def adam(w, g, s, t, rate, decay):
    return w - rate * moments(g + decay * w, s, t, 1e-8)


def adamw(w, g, s, t, rate, decay):
    return w - rate * decay * w - rate * moments(g, s, t, 1e-8)


def lamb(w, g, s, t, rate, decay):
    r = moments(g, s, t, 1e-6) + decay * w
    length, own = np.linalg.norm(w), np.linalg.norm(r)
    return w - rate * (length / own if length and own else 1) * r


def cosine(t, warmup):
    if t <= warmup:
        return t / warmup
    return 0.5 * (1 + np.cos(np.pi * (t - 1 - warmup) / (STEPS - warmup)))


# Rule, its arguments, flags of compile, flags of run.
CASES = [
    (sgd, {"rate": 0.2, "decay": 0.0}, "--lr 0.2", ""),
    (sgd, {"rate": 0.1, "decay": 0.01, "momentum": 0.9}, "--lr 0.5 --momentum 0.9", "--lr 0.1 --weight-decay 0.01"),
    (sgd, {"rate": 0.1, "decay": 0.0, "momentum": 0.9, "nesterov": True}, "--lr 0.1 --momentum 0.9 --nesterov", ""),
    (adagrad, {"rate": 0.0731, "decay": 0.0}, "--optimizer adagrad --lr 0.0731", ""),
    (adam, {"rate": 0.0137, "decay": 0.1}, "--optimizer adam --lr 0.0137 --weight-decay 0.1", ""),
    (adamw, {"rate": 0.0137, "decay": {"w1": 0.1, "w2": 0.1}, "clip": 0.5, "warmup": 5},
     "--optimizer adamw --lr 0.0137 --weight-decay 0.1 --decay b*=0 --clip 9", "--clip 0.5 --lr-schedule cosine --lr-warmup 5"),
    (lamb, {"rate": 0.0137, "decay": 0.1}, "--optimizer lamb --lr 0.0137 --weight-decay 0.1", ""),
    (adam, {"rate": 0.0137, "decay": 0.0, "frozen": ("w1", "b1")}, "--optimizer adam --lr 0.0137 --only ?2", ""),
]


def train(rule, arguments):
    """Losses by the formulas."""
    arguments = dict(arguments)
    clip, warmup = arguments.pop("clip", None), arguments.pop("warmup", None)
    decay, frozen, rate = arguments.pop("decay"), arguments.pop("frozen", ()), arguments.pop("rate")
    weights, states, losses = get_weights(), {}, []
    for t in range(1, STEPS + 1):
        loss, gradients = get_loss_and_gradients(weights)
        losses.append(loss)
        if clip:
            norm = np.sqrt(sum((g * g).sum() for g in gradients.values()))
            gradients = {n: g * min(1, clip / (norm + 1e-6)) for n, g in gradients.items()}
        now = rate * (cosine(t, warmup) if warmup else 1)
        for name, g in gradients.items():
            own = decay.get(name, 0) if isinstance(decay, dict) else decay
            if name not in frozen:
                weights[name] = rule(weights[name], g, states.setdefault(name, {}), t, now, own, **arguments)
    return losses


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def main(work, model, flags="", plans=len(PLANS)):
    plans = PLANS[:int(plans)]
    os.makedirs(work, exist_ok=True)
    fed, out, found, log = (os.path.join(work, n) for n in ("in.npz", "out", "out.npz", "log.jsonl"))
    np.savez(fed, x=X.astype(np.float32), labels=LABELS)
    for rule, arguments, compiled, ran in CASES:
        expected = np.array(train(rule, arguments))
        for plan in plans:
            call("cleave", "compile", model, "-o", out, "--train", "--loss-output", "loss", *compiled.split(), *plan.split(),
                 *flags.split())
            call("cleave", "run", out, "--loopback", "--input", fed, "--output", found, "--log", log, "--steps", str(STEPS),
                 *ran.split())
            with open(log) as lines:
                losses = np.array([json.loads(line)["loss"] for line in lines])
            error = (np.abs(losses - expected) / np.maximum(expected, 0.1)).max()
            if losses.shape != expected.shape or not error < 1e-5:
                sys.exit(f"{rule.__name__} {arguments}, plan '{plan}': off by {error}\n{losses}\nexpected\n{expected}")
    print(f"{len(CASES)} optimizers on {len(plans)} plans give the losses of the formulas")


main(*sys.argv[1:])
