"""cuda.py MODELS WORK [NAME...] - exported models as CUDA programs, on plans and in two precisions.

For each NAME.ts.static.keep.onnx of MODELS (default: all of MODELS): programs for sm_80,
sm_90 and sm_100 of each plan, run on the devices that there are (or on test/cudaemu, by
LD_LIBRARY_PATH) and compared with NAME.ts.static.keep.expected.npz: within 1e-5 of the
largest value in fp32; 2e-2 in bf16, on the plans of FEW. A kernel that
spills is a failure, and an elementwise one whose PTX loads no 8 or 16 bytes at once, unless
its program says one of the reasons of NARROW (over 3 ranks also of UNEVEN). Ends with a line that counts.
"""

import json
import os
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

PLANS = ["", "--tp 2", "--tp 3", "--pp 2", "--dp 2", "--tp 2 --pp 2"]
MODELS = {name: PLANS for name in ["gpt2", "llama", "bert", "vit", "dlrm_gather"]} | {"resnet50": [""]}
FEW = ["", "--tp 2"]
NARROW = {
    "a thread has a window",  # pools
    "a block has a transposed tile",
    "vectors of bytes are one word",  # masks
    "it has fewer elements than a vector",
}
UNEVEN = {"vectors may cross the end of a part", "rows of an operand are no whole vectors"}  # of tensors over 3 ranks


def narrow(model):
    """Makes a model of floats one of bf16, between casts of its inputs and outputs."""
    graph, single, half = model.graph, TensorProto.FLOAT, TensorProto.BFLOAT16

    def convert(tensor):
        if tensor.data_type == single:
            tensor.CopyFrom(onnx.helper.make_tensor(
                tensor.name, half, tensor.dims, numpy_helper.to_array(tensor).astype(np.float32).flatten()))

    for tensor in graph.initializer:
        convert(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                convert(attribute.t)
            elif node.op_type == "Cast" and attribute.name == "to" and attribute.i == single:
                attribute.i = half
    del graph.value_info[:]
    inside = {value.name: value.name + ".narrow" for value in [*graph.input, *graph.output]
              if value.type.tensor_type.elem_type == single}
    for node in graph.node:
        node.input[:] = [inside.get(name, name) for name in node.input]
        node.output[:] = [inside.get(name, name) for name in node.output]
    casts = [onnx.helper.make_node("Cast", [value.name], [inside[value.name]], to=half)
             for value in graph.input if value.name in inside]
    nodes = [*casts, *graph.node]
    nodes += [onnx.helper.make_node("Cast", [inside[value.name]], [value.name], to=single)
              for value in graph.output if value.name in inside]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def verify_kernels(folder):
    """Every program has its binaries, and no kernel spills."""
    with open(os.path.join(folder, "manifest.json")) as file:
        manifest = json.load(file)
    for program in manifest["programs"]:
        binaries = program["device"]["binaries"]
        assert sorted(binaries) == ["sm_100", "sm_80", "sm_90"], sorted(binaries)
        for arch, kernels in binaries.items():
            for kernel in kernels:
                assert kernel["registers"] > 0, kernel
                assert kernel["spillBytes"] == 0, f"{arch}: {kernel} spills"
    return [program["device"]["launches"] for program in manifest["programs"]]


def verify_loads(path, folder, flags):
    """Every elementwise kernel loads vectors, or the program says why it does not."""
    text = subprocess.run(["cleave", "compile", path, "-o", "-", "--target", "cuda", "--emit", "ptx", "--arch", "sm_90",
                           *flags.split()], check=True, stdout=subprocess.PIPE, text=True).stdout
    with open(os.path.join(folder, "manifest.json")) as file:
        programs = json.load(file)["programs"]
    allowed = NARROW | (UNEVEN if "--tp 3" in flags else set())
    modules = text.split("\n.version ")[1:]
    assert len(modules) == len(programs), (len(modules), len(programs))
    for module, program in zip(modules, programs):
        reasons = {kernel["name"]: kernel["narrowLoads"] for kernel in program["device"]["binaries"]["sm_90"]}
        parts = re.split(r"\.entry (\w+)\(", module)
        assert set(parts[1::2]) == set(reasons), set(parts[1::2]) ^ set(reasons)
        for name, code in zip(parts[1::2], parts[2::2]):
            loads = [load for load in re.findall(r"\bld\.(\S+)", code) if not re.match("param|shared", load)]
            if not re.match("loop_|post_", name) or not loads:
                continue
            is_wide = any(re.search(r"\bv[24]\.", load) for load in loads)
            assert is_wide != bool(reasons[name]), f"{name}: vector loads: {is_wide}, reason: '{reasons[name]}'"
            assert is_wide or reasons[name] in allowed, f"{name}: {reasons[name]}"


def run_plan(path, stem, folder, flags, tolerance):
    """Compiles, runs, and returns the largest difference and the launches of a step."""
    subprocess.run(["cleave", "compile", path, "-o", folder, "--target", "cuda", *flags.split()], check=True)
    launches = verify_kernels(folder)
    verify_loads(path, folder, flags)
    run = ["cleave", "run", folder, "--loopback", "--json", "--repeat", "2", "--input", stem + ".inputs.npz",
           "--compare", stem + ".expected.npz", "--tolerance", str(tolerance)]
    done = subprocess.run(run, check=True, stdout=subprocess.PIPE)
    return max(json.loads(done.stdout)["differences"].values()), launches


def main(models, work, *names):
    os.makedirs(work, exist_ok=True)
    folder, narrow_path = os.path.join(work, "out"), os.path.join(work, "narrow.onnx")
    runs, wrong = 0, 0
    for name in names or MODELS:
        stem = os.path.join(models, name + ".ts.static.keep")
        onnx.save(narrow(onnx.load(stem + ".onnx")), narrow_path)
        cases = [("fp32", stem + ".onnx", flags, 1e-5) for flags in MODELS[name]]
        cases += [("bf16", narrow_path, flags, 2e-2) for flags in MODELS[name] if flags in FEW]
        for precision, path, flags, tolerance in cases:
            runs += 1
            try:
                worst, launches = run_plan(path, stem, folder, flags, tolerance)
                print(f"{name} {precision} '{flags}': {worst:.1e}, launches a step: {launches}", flush=True)
            except subprocess.CalledProcessError:
                wrong += 1
                print(f"{name} {precision} '{flags}': FAILED", flush=True)
    print(f"{runs} runs, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
