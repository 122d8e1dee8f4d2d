"""large.py FOLDER - compile a model of 2.1 GB for four ranks, watching the compiler.

The weights are a sparse file: zeros that take no room here, and 2.1 GB for whoever
reads them. Prints what was kept; exits with 1 and says what was not.
"""

import os
import subprocess
import sys
import time

import onnx
from onnx import TensorProto, helper

WIDTH, LAYERS = 11456, 4
BYTES = 4 * WIDTH * WIDTH * LAYERS
LIMIT = 300e6  # bytes


def make_model(folder):
    """LAYERS products of [WIDTH, WIDTH], all their weights in one file beside the model."""
    with open(os.path.join(folder, "weights.bin"), "wb") as file:
        file.truncate(BYTES)
    nodes, weights = [], []
    for layer in range(LAYERS):
        weight = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH],
                             data_location=TensorProto.EXTERNAL)
        place = {"location": "weights.bin", "offset": layer * BYTES // LAYERS, "length": BYTES // LAYERS}
        for key, value in place.items():
            weight.external_data.add(key=key, value=str(value))
        weights.append(weight)
        nodes.append(helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"h{layer}"]))
        nodes.append(helper.make_node("Relu", [f"h{layer}"], [f"x{layer + 1}"]))
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, WIDTH])
    graph = helper.make_graph(nodes, "large", [value("x0")], [value(f"x{LAYERS}")], weights)
    path = os.path.join(folder, "large.onnx")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def read_field(path, key):
    """A number of a file of /proc, or 0 when the process has ended."""
    try:
        with open(path) as file:
            return next(int(line.split()[1]) for line in file if line.startswith(key))
    except (OSError, StopIteration):
        return 0


def watch(command):
    """Runs `command`; the most anonymous memory and the bytes it wrote, as last seen."""
    process = subprocess.Popen(command)
    memory = written = 0
    while process.poll() is None:
        memory = max(memory, 1024 * read_field(f"/proc/{process.pid}/status", "RssAnon:"))
        written = max(written, read_field(f"/proc/{process.pid}/io", "wchar:"))
        time.sleep(0.005)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return memory, written


def main(folder):
    out = os.path.join(folder, "out")
    memory, written = watch(["cleave", "compile", make_model(folder), "-o", out, "--tp", "2", "--pp", "2"])
    weights = os.path.join(out, "weights")
    stored = sum(entry.stat().st_size for entry in os.scandir(weights))
    print(f"anonymous memory {memory / 1e6:.0f} MB, {written / 1e9:.3f} GB written, "
          f"{stored / 1e9:.3f} GB of weights", file=sys.stderr)
    if not 0 < memory < LIMIT:
        sys.exit(f"{memory / 1e6:.0f} MB of anonymous memory")
    print("anonymous memory below 300 MB")
    # Padding to alignment, headers, programs: less than a hundredth.
    if not BYTES <= stored <= 1.01 * BYTES:
        sys.exit(f"{stored} bytes of weights, the model has {BYTES}")
    if written > stored + 0.01 * BYTES:
        sys.exit(f"{written} bytes written for {stored} bytes of weights")
    print(f"weights of {BYTES / 1e9:.1f} GB written once")


main(sys.argv[1])
