"""exports.py FOLDER NAME WORK TOLERANCE [ALL] - compile the exports of a model for many plans.

For each NAME.*.onnx of FOLDER: plans run on loopback ranks on the inputs beside it
(NAME.*.inputs.npz) and are compared with NAME.*.expected.npz. Where dims are symbolic
they run on another size too and are compared with ONNX Runtime; those are a few plans,
or all with ALL as the last argument. The error is the largest difference by the largest
value.
"""

import glob
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime

PLANS = ["", "--tp 2", "--tp 3", "--tp 4", "--pp 2", "--pp 3", "--dp 2", "--tp 2 --pp 2",
         "--dp 2 --tp 2", "--dp 2 --pp 2 --tp 2"]
FEW = ["", "--tp 3", "--dp 2 --pp 2 --tp 2"]


def get_dims(model):
    """Symbolic dims as (input, position) -> name."""
    dims = {}
    for value in model.graph.input:
        for position, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                dims[value.name, position] = dim.dim_param
    return dims


def resize(array, sizes, random):
    """Rows of `array` drawn anew, and their first parts: values stay in their domains."""
    drawn = array[random.integers(0, array.shape[0], sizes[0])] if sizes else array
    return drawn[tuple(slice(size) for size in sizes)]


def make_cases(path, model):
    """Inputs and expected outputs, in turn."""
    inputs = dict(np.load(path.replace(".onnx", ".inputs.npz")))
    yield inputs, dict(np.load(path.replace(".onnx", ".expected.npz")))
    dims = get_dims(model)
    if not dims:
        return
    random = np.random.default_rng(1)
    sizes = {}
    for (name, position), dim in dims.items():
        size = inputs[name].shape[position]
        sizes[dim] = size + 1 if position == 0 else size - 5
    other = {}
    for name, array in inputs.items():
        shape = [sizes.get(dims.get((name, i)), size) for i, size in enumerate(array.shape)]
        other[name] = resize(array, shape, random)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    yield other, dict(zip(names, session.run(names, other)))


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def run_plan(path, work, flags, bind, inputs):
    out, fed, found = (os.path.join(work, name) for name in ("out", "in.npz", "out.npz"))
    shutil.rmtree(out, ignore_errors=True)
    np.savez(fed, **inputs)
    call("cleave", "compile", path, "-o", out, *flags.split(), *bind)
    call("cleave", "run", out, "--loopback", "--input", fed, "--output", found)
    return np.load(found)


def main(folder, name, work, tolerance, more=None):
    os.makedirs(work, exist_ok=True)
    paths = [path for path in sorted(glob.glob(os.path.join(folder, name + ".*.onnx")))
             if os.path.exists(path.replace(".onnx", ".expected.npz"))]
    wrong, cases = 0, 0
    for path in paths:
        model = onnx.load(path, load_external_data=False)
        plans = PLANS if more or not get_dims(model) else FEW
        for inputs, expected in make_cases(path, model):
            sizes = {dim: inputs[key].shape[i] for (key, i), dim in get_dims(model).items()}
            bind = [part for dim in sizes for part in ("--bind", f"{dim}={sizes[dim]}")]
            for flags in plans:
                found = run_plan(path, work, flags, bind, inputs)
                error = max(np.abs(found[key] - value).max() / np.abs(value).max()
                            for key, value in expected.items())
                verdict = "equal" if error <= float(tolerance) else "WRONG"
                print(f"{verdict}: {os.path.basename(path)} {' '.join(bind)} plan '{flags}': "
                      f"error {error:.1e}", flush=True)
                wrong += verdict == "WRONG"
                cases += 1
    print(f"{cases} plans, {wrong} wrong")
    sys.exit(wrong > 0 or cases == 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
