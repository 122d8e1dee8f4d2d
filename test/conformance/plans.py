"""plans.py - compile a model for several plans, run the ranks, compare with ONNX Runtime.

usage: plans.py MODEL WORK TOLERANCE [BATCH-DIM]

Every plan runs under mpirun on the same input. The error is the largest difference
by the largest value of ONNX Runtime's output. With the name of the batch dim, data
parallel plans get a batch that does not divide.
"""

import os
import shutil
import subprocess
import sys

import numpy as np
import onnxruntime

# Flags, ranks, batch (where the model leaves it open).
PLANS = [
    ("", 1, 1),
    ("--tp 2", 2, 1),
    ("--tp 3", 3, 1),
    ("--tp 4", 4, 1),
    ("--pp 2", 2, 1),
    ("--pp 3", 3, 1),
    ("--dp 2", 2, 3),
    ("--tp 2 --pp 2", 4, 1),
    ("--dp 2 --tp 2", 4, 3),
]


def make_inputs(session, batch):
    """Draws normal numbers; an open dim, the first one, is the batch."""
    random = np.random.default_rng(0)
    shapes = {i.name: [d if isinstance(d, int) else batch for d in i.shape] for i in session.get_inputs()}
    return {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def run_plan(model, work, flags, ranks, bind, inputs):
    out = os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    np.savez(os.path.join(work, "in.npz"), **inputs)
    call("cleave", "compile", model, "-o", out, *flags.split(), *bind)
    call("mpirun", "-n", str(ranks), os.path.join(out, "launch"), "--input",
         os.path.join(work, "in.npz"), "--output", os.path.join(work, "out.npz"))
    return np.load(os.path.join(work, "out.npz"))


def main(model, work, tolerance, batch_dim=None):
    os.makedirs(work, exist_ok=True)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    wrong = 0
    for flags, ranks, batch in PLANS:
        inputs = make_inputs(session, batch)
        bind = ["--bind", f"{batch_dim}={batch}"] if batch_dim else []
        found = run_plan(model, work, flags, ranks, bind, inputs)
        for name, expected in zip(names, session.run(names, inputs)):
            error = np.abs(found[name] - expected).max() / np.abs(expected).max()
            verdict = "equal" if error <= float(tolerance) else "WRONG"
            print(f"{verdict}: plan '{flags}', output '{name}': error {error:.1e}", flush=True)
            wrong += verdict == "WRONG"
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
