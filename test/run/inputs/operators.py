"""operators.py WORK: compiles models of one or a few nodes for several plans and
compares each run, all ranks in one process, with ONNX Runtime.

Integers, and floats that hold integers, must be equal; others to 2e-6 of the largest.
"""

import os
import shutil
import subprocess
import sys

import numpy as np
import onnx.parser
import onnxruntime

TP2, TP3 = "--tp 2", "--tp 3"


def split(names, dims, *plans):
    """The plans with the inputs `names` split along each of the dims that is 1."""
    return [plan + "".join(f" --shard {name}={','.join('tp' if i == at else '-' for i in range(len(dims)))}"
                           for name in names.split())
            for plan in plans for at, may in enumerate(dims) if may]


# Inputs and outputs, nodes, and the plans beside that of one rank. Three ranks have
# uneven parts.
CASES = {
    "max": ("float[2,5,9,11] x) => (float[2,5,5,6] y",
            "y = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (x)",
            split("x", [1, 1, 0, 0], TP2, TP3)),
    "max_dilated": ("float[1,3,20] x) => (float[1,3,8] y",
                    "y = MaxPool <kernel_shape = [3], dilations = [2], strides = [2]> (x)", []),
    "max_ceil": ("float[1,2,10,10] x) => (float[1,2,4,4] y",
                 "y = MaxPool <kernel_shape = [2,3], ceil_mode = 1, strides = [3,3], pads = [1,0,0,1]> (x)", []),
    "max_volume": ("float[1,2,6,7,19] x) => (float[1,2,3,3,18] y",
                   "y = MaxPool <kernel_shape = [2,3,2], strides = [2,2,1]> (x)", []),
    "max_bytes": ("uint8[1,3,8,40] x) => (uint8[1,3,4,20] y",
                  "y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)", []),
    "max_wide": ("float[1,2,4,70] x) => (float[1,2,1,51] y",
                 "y = MaxPool <kernel_shape = [4,20]> (x)", []),
    "max_transposed": ("float[2,9,11,5] x) => (float[2,4,5,5] y",
                       "a = Transpose <perm = [0,3,1,2]> (x) b = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a) "
                       "y = Transpose <perm = [0,2,3,1]> (b)", []),
    "average": ("float[2,5,9,11] x) => (float[2,5,9,11] y",
                "y = AveragePool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)", split("x", [1, 1, 0, 0], TP3)),
    "average_pad": ("float[2,5,9,11] x) => (float[2,5,5,6] y",
                    "y = AveragePool <kernel_shape = [3,3], auto_pad = \"SAME_UPPER\", strides = [2,2], "
                    "count_include_pad = 1> (x)", []),
    "average_ceil": ("float[1,2,10,10] x) => (float[1,2,4,4] y",
                     "y = AveragePool <kernel_shape = [3,3], ceil_mode = 1, strides = [3,3], pads = [0,1,1,0]> (x)", []),
    "average_dilated": ("float[1,2,12,30] x) => (float[1,2,8,26] y",
                        "y = AveragePool <kernel_shape = [3,3], dilations = [2,2]> (x)", []),
    "lp": ("float[1,3,10,10] x) => (float[1,3,8,8] y", "y = LpPool <kernel_shape = [3,3], p = 2> (x)", []),
    "lrn": ("float[2,7,3,5] x) => (float[2,7,3,5] y",
            "y = LRN <size = 5, alpha = 0.5, beta = 0.75, bias = 1.5> (x)", split("x", [1, 0, 0, 0], TP2)),
    "sums": ("float[5,6,20] x) => (float[5,6,20] y", "d = Constant <value_int = 1> () y = CumSum(x, d)",
             split("x", [1, 0, 1], TP2, TP3)),
    "sums_last": ("int64[5,7] x) => (int64[5,7] y",
                  "d = Constant <value_int = -1> () y = CumSum <exclusive = 1, reverse = 1> (x, d)",
                  split("x", [1, 0], TP3)),
    "top": ("float[5,40] x) => (float[5,7] y, int64[5,7] i", "k = Constant <value_ints = [7]> () y, i = TopK(x, k)",
            split("x", [1, 0], TP2, TP3)),
    "top_least": ("int32[4,9,5] x) => (int32[4,9,5] y, int64[4,9,5] i",
                  "k = Constant <value_ints = [9]> () y, i = TopK <axis = 1, largest = 0> (x, k)",
                  split("x", [1, 0, 1], TP3)),
    "take": ("float[5,9,6] x, int64[5,4,6] at) => (float[5,4,6] y", "y = GatherElements <axis = 1> (x, at)",
             split("x at", [1, 0, 1], TP2, TP3) + split("at", [0, 1, 0], TP3)),
    "take_nd": ("float[5,9,6] x, int64[5,4,1] at) => (float[5,4,6] y", "y = GatherND <batch_dims = 1> (x, at)",
                split("x at", [1, 0, 0], TP3) + split("at", [0, 1, 0], TP3) + split("x", [0, 0, 1], TP3)),
    "put": ("float[5,9,6] x, int64[5,4,6] at, float[5,4,6] u) => (float[5,9,6] y",
            "y = ScatterElements <axis = 1, reduction = \"add\"> (x, at, u)", split("x at u", [1, 0, 1], TP2, TP3)),
    "put_part": ("float[5,9,6] x, int64[3,4,2] at, float[3,4,2] u) => (float[5,9,6] y",
                 "y = ScatterElements <axis = 1, reduction = \"max\"> (x, at, u)", []),
    "put_nd": ("float[9,4,35] x, int64[7,1] at, float[7,4,35] u) => (float[9,4,35] y",
               "y = ScatterND <reduction = \"mul\"> (x, at, u)", split("x u", [0, 1, 1], TP2, TP3)),
    "put_points": ("float[4,4,9] x, int64[6,2] at, float[6,9] u) => (float[4,4,9] y",
                   "y = ScatterND <reduction = \"add\"> (x, at, u)", split("x", [0, 0, 1], TP3)),
    "put_large": ("float[900,40] x, int64[500,1] at, float[500,40] u) => (float[900,40] y",
                  "y = ScatterND <reduction = \"add\"> (x, at, u)", []),
    "reverse": ("float[6,5,4] x, int64[5] at) => (float[6,5,4] y", "y = ReverseSequence(x, at)",
                split("x", [0, 1, 1], TP3)),
    "hardmax": ("float[5,7] x) => (float[5,7] y", "y = Hardmax(x)", split("x", [1, 0], TP3)),
    "einsum": ("float[2,3,4,4] x, float[2,1,4,6] z) => (float[2,3,6] y",
               "y = Einsum <equation = \"...ii,...ik->...k\"> (x, z)", []),
    "halfs": ("float16[3,4,5] x, float16[5,7] z, float16[7] b) => (float16[3,4,7] y", "a = MatMul(x, z) y = Add(a, b)",
              split("x", [1, 0, 1], TP2)),
    "half_images": ("float16[1,3,9,9] x, float16[5,3,3,3] z) => (float16[1,5,7,7] y", "y = Conv(x, z)", []),
    "doubles": ("double[3,4,5] x, double[3,5,7] z) => (double[3,4,7] y", "y = MatMul(x, z)",
                split("x z", [1, 0, 0], TP2)),
    "integers": ("int32[20,70] x, int32[70,40] z) => (int32[20,40] y", "y = MatMul(x, z)", split("x", [1, 1], TP3)),
    "integers_transposed": ("int64[4,20] x, int64[30,20] z) => (int64[4,30] y",
                            "a = Transpose(z) y = MatMul(x, a)", []),
    "quantize": ("float[3,20] x, float[3] z) => (uint8[3,20] y, float[3,20] b",
                 "s = Abs(z) o = Constant <value_float = 0.37> () t = Add(s, o) f = Constant <value = uint8[3] {3, 128, 250}> () "
                 "y = QuantizeLinear <axis = 0> (x, t, f) b = DequantizeLinear <axis = 0> (y, t, f)",
                 split("x", [1, 1], TP2)),
    "bytes_product": ("uint8[5,600] x, uint8[600,7] z) => (int32[5,7] y",
                      "f = Constant <value = uint8 {3}> () y = MatMulInteger(x, z, f)", split("x", [1, 1], TP3)),
    "quantized_product": ("uint8[2,5,600] x, int8[600,7] z) => (uint8[2,5,7] y",
                          "s = Constant <value_float = 0.5> () t = Constant <value_float = 90.0> () "
                          "f = Constant <value = uint8 {130}> () g = Constant <value = int8 {1}> () "
                          "y = QLinearMatMul(x, s, f, z, s, g, t, f)", []),
    "bytes_images": ("uint8[2,40,6,6] x, uint8[3,40,3,3] z) => (int32[2,3,6,6] y",
                     "f = Constant <value = uint8 {7}> () y = ConvInteger <pads = [1,1,1,1]> (x, z, f)",
                     split("x", [1, 1, 0, 0], TP2)),
    "quantized_images": ("uint8[1,90,6,6] x, int8[4,45,3,3] z, int32[4] b) => (uint8[1,4,4,4] y",
                         "s = Constant <value_float = 0.5> () t = Constant <value_float = 60.0> () "
                         "r = Constant <value = float[4] {0.5, 0.25, 1.0, 0.125}> () f = Constant <value = uint8 {130}> () "
                         "g = Constant <value = int8 {0}> () y = QLinearConv <group = 2> (x, s, f, z, r, g, t, f, b)", []),
    **{f"sampled_{mode}_{padding}_{align}": (
        "float[2,3,6,7] x, float[2,4,5,2] z) => (float[2,3,4,5] y",
        f"s = Constant <value_float = 0.34> () g = Mul(z, s) "
        f"y = GridSample <mode = \"{mode}\", padding_mode = \"{padding}\", align_corners = {align}> (x, g)",
        split("x", [1, 1, 0, 0], TP2) if padding == "zeros" and align else [])
        for mode in ("nearest", "linear", "cubic") for padding in ("zeros", "border", "reflection")
        for align in (0, 1)},
    "blocks": ("float[2,18,12] x) => (float[2,3,5,5] y",
               "i = Constant <value_ints = [5,5]> () b = Constant <value_ints = [2,3]> () "
               "y = Col2Im <pads = [0,1,1,0], strides = [2,1]> (x, i, b)", split("x", [1, 0, 0], TP2)),
    "power": ("int64[3,20] x, int64[3,20] at) => (int64[3,20] y", "y = Pow(x, at)", []),
    "rounded": ("float[3,20] x) => (float[3,20] y", "h = Constant <value_float = 0.5> () a = Mul(x, h) y = Round(a)", []),
    "unsigned": ("uint8[40] x, uint8[40] z) => (uint8[40] y, bool[40] b, uint8[40] c, uint8 m",
                 "a = Max(x, z) b = Less(x, z) y = Div(a, z) c = Mod(x, z) m = ReduceMax <keepdims = 0> (x)", []),
}
OPSETS = '[ "": 20 ]'


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def make_inputs(model):
    """Small integers; indices that are in range, some from the end; lengths."""
    random = np.random.default_rng(0)
    inputs = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        low, high = (1, 256) if dtype == np.uint8 else (-4, 5)
        if value.name == "at":
            low, high = (1, 4) if model.graph.node[0].op_type in ("ReverseSequence", "Pow") else (-4, 4)
        inputs[value.name] = random.integers(low, high, shape).astype(dtype)
    return inputs


def compare(name, plan, expected, found):
    for output, value in expected.items():
        other = found[output]
        exact = value.dtype != np.float32 or np.array_equal(value, np.round(value))
        bound = 0 if exact else 2e-6 * np.abs(value).max()
        if value.dtype != other.dtype or value.shape != other.shape or \
                np.abs(value.astype(np.float64) - other).max(initial=0) > bound:
            sys.exit(f"{name}, plan '{plan}', output '{output}':\n{other}\nexpected\n{value}")


def main(work):
    os.makedirs(work, exist_ok=True)
    model_file, in_file, out, out_file = (os.path.join(work, n) for n in ["m.onnx", "in.npz", "out", "out.npz"])
    runs = 0
    for name, (signature, nodes, plans) in CASES.items():
        model = onnx.parser.parse_model(f"<ir_version: 9, opset_import: {OPSETS}> {name} ({signature}) {{ {nodes} }}")
        onnx.save(model, model_file)
        inputs = make_inputs(model)
        np.savez(in_file, **inputs)
        session = onnxruntime.InferenceSession(model_file, providers=["CPUExecutionProvider"])
        names = [o.name for o in session.get_outputs()]
        expected = dict(zip(names, session.run(names, inputs)))
        for plan in ["", *plans]:
            shutil.rmtree(out, ignore_errors=True)
            call("cleave", "compile", model_file, "-o", out, *plan.split())
            call("cleave", "run", out, "--loopback", "--input", in_file, "--output", out_file)
            compare(name, plan, expected, np.load(out_file))
            runs += 1
    print(f"all {runs} runs agree")


main(sys.argv[1])
