"""gradients_models.py MODELS WORK NAME [--flags=FLAGS] [PLAN...]: gradients of an exported model, for each
plan, against those that PyTorch gave (NAME.ts.static.keep.grads.npz).

The loss is sum(output 0 * cotangent), with the cotangent that PyTorch had. Every parameter must be within 2e-5 of its own largest entry plus 1e-7 of the model's largest
gradient; every further plan within a tenth of that of the first one. FLAGS go with all plans.
"""

import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper


def add_loss(model, cotangent):
    """Appends sum(output 0 * cotangent)."""
    output = model.graph.output[0]
    model.graph.input.append(helper.make_tensor_value_info("__cotangent__", TensorProto.FLOAT, cotangent.shape))
    model.graph.node.append(helper.make_node("Mul", [output.name, "__cotangent__"], ["__weighted__"]))
    model.graph.node.append(helper.make_node("ReduceSum", ["__weighted__"], ["__loss__"], keepdims=0))
    model.graph.output.append(helper.make_tensor_value_info("__loss__", TensorProto.FLOAT, []))


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout[-4000:]}")


def run(work, model_file, plan):
    out, found = os.path.join(work, "out"), os.path.join(work, "out.npz")
    call("cleave", "compile", model_file, "-o", out, "--train", "--loss-output", "__loss__", "--optimizer", "none", *plan.split())
    call("cleave", "run", out, "--loopback", "--input", os.path.join(work, "in.npz"), "--output", found)
    with np.load(found) as arrays:
        return {name.removesuffix(".grad"): arrays[name] for name in arrays.files if name.endswith(".grad")}


def compare(expected, found, share, floor, plan):
    """Returns the largest difference, in parts of what is allowed."""
    worst, where = 0.0, ""
    for name, value in expected.items():
        allowed = share * np.abs(value).max() + floor
        difference = np.abs(found[name].astype(np.float64) - value).max() / allowed
        if not difference <= worst:
            worst, where = difference, name
    print(f"plan '{plan}': {len(expected)} gradients, at most {worst:.3f} of what is allowed, in '{where}'")
    if not worst <= 1:
        sys.exit("too far")


def main(models, work, name, *plans):
    flags = " ".join(plan.removeprefix("--flags=") for plan in plans if plan.startswith("--flags="))
    plans = [plan for plan in plans if not plan.startswith("--flags=")]
    os.makedirs(work, exist_ok=True)
    base = os.path.join(models, f"{name}.ts.static.keep")
    model = onnx.load(base + ".onnx")
    with np.load(base + ".grads.npz") as arrays:
        expected = {n: arrays[n] for n in arrays.files}
    cotangent = expected.pop("__cotangent__")
    known = {tensor.name for tensor in model.graph.initializer}
    # PyTorch tells tied parameters by both names.
    expected = {n: value for n, value in expected.items() if n in known}
    add_loss(model, cotangent)
    model_file = os.path.join(work, "model.onnx")
    onnx.save(model, model_file)
    with np.load(base + ".inputs.npz") as arrays:
        inputs = {n: arrays[n] for n in arrays.files}
    np.savez(os.path.join(work, "in.npz"), __cotangent__=cotangent, **inputs)
    floor = 1e-7 * max(np.abs(value).max() for value in expected.values())
    first = run(work, model_file, flags)
    compare(expected, first, 2e-5, floor, "")
    for plan in plans:
        compare(first, run(work, model_file, f"{plan} {flags}"), 2e-6, floor, plan)


main(*sys.argv[1:])
