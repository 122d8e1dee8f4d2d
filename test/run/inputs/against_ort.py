"""against_ort.py - runs models of ONNX's text form on several plans, against ONNX Runtime.

Every plan runs all its ranks as threads of one process. The error is the largest
difference by the largest value of ONNX Runtime's output.
"""

import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

PLANS = ["", "--tp 2", "--dp 2"]


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def get_error(found, expected):
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return np.inf
    largest = np.abs(expected.astype(np.float64)).max(initial=1e-30)
    return np.abs(found.astype(np.float64) - expected.astype(np.float64)).max(initial=0) / largest


def check(name, model, inputs, work, tolerance, plans=PLANS):
    """`model`: ONNX text or a ModelProto. Prints "equal: NAME on plan '...'" for each plan, or exits."""
    os.makedirs(work, exist_ok=True)
    path = lambda leaf: os.path.join(work, f"{name}{leaf}")  # noqa: E731
    if isinstance(model, str):
        model = onnx.parser.parse_model(model)
    onnx.save(model, path(".onnx"))
    np.savez(path(".npz"), **inputs)
    session = onnxruntime.InferenceSession(path(".onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected = dict(zip(names, session.run(names, inputs)))
    for plan in plans:
        call("cleave", "compile", path(".onnx"), "-o", path(".out"), *plan.split())
        call("cleave", "run", path(".out"), "--loopback", "--input", path(".npz"), "--output", path(".found.npz"))
        found = np.load(path(".found.npz"))
        for output, value in expected.items():
            error = get_error(found[output], value)
            if not error <= tolerance:
                sys.exit(f"WRONG: {name} on plan '{plan}', output '{output}': error {error:.1e}\n"
                         f"{found[output]}\nexpected\n{value}")
        print(f"equal: {name} on plan '{plan}'", flush=True)
