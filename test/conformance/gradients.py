"""gradients.py WORK [--flags=FLAGS] [NAME...]: gradients of operators against central finite differences.

Each case is a model whose parameters are initializers; the loss is sum(y * cotangent) with
a random cotangent, an input. Cleave, with FLAGS for the compiler, gives the gradient of each parameter, on one rank and split over two;
ONNX's reference evaluator, in double precision, gives the loss at p + h and p - h for each
element of each parameter. Cases are in double precision, where they differ by 1e-7 of the
gradient's largest value at most; those in float have products in float only (convolutions),
and differ by 1e-5.
"""

import math
import os
import subprocess
import sys

import numpy as np
import onnx.parser
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

STEP = 1e-5
TOLERANCE = {"double": 1e-7, "float": 1e-5}
PLANS = ["--tp 2", "--dp 2"]


class Erf(OpRun):
    """The evaluator's own rounds to single precision."""

    def _run(self, x):
        return (np.vectorize(math.erf, otypes=[np.float64])(x),)


class ConvTranspose(OpRun):
    """By its definition: the evaluator's own knows neither lines nor groups."""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=1, kernel_shape=None, output_padding=None,
             output_shape=None, pads=None, strides=None):
        rank = x.ndim - 2
        pads, added = pads or [0] * 2 * rank, output_padding or [0] * rank
        sizes = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], strides, w.shape[2:])]
        y = np.zeros((x.shape[0], w.shape[1] * group, *(n + a for n, a in zip(sizes, added))))
        ins, outs = w.shape[0] // group, w.shape[1]
        for channel in range(w.shape[0]):
            first = channel // ins * outs
            for at in np.ndindex(x.shape[2:]):
                box = tuple(slice(i * s, i * s + k) for i, s, k in zip(at, strides, w.shape[2:]))
                y[(slice(None), slice(first, first + outs)) + box] += np.multiply.outer(x[(slice(None), channel) + at], w[channel])
        ends = [n + a - p for n, a, p in zip(sizes, added, pads[rank:])]
        return (y[(slice(None), slice(None)) + tuple(slice(p, e) for p, e in zip(pads, ends))],)


class Case:
    """`params`: name -> shape, or (shape, low, high); `y`: shape of the output."""

    def __init__(self, params, y, nodes, indices=None, type="double", plans=PLANS):
        self.params = {n: p if isinstance(p[0], (tuple, list)) else (p, -1.0, 1.0) for n, p in params.items()}
        self.y, self.nodes, self.type, self.plans = y, nodes, type, plans
        self.indices = indices or {}  # inputs: name -> array


def each(kinds, shape=(3, 5)):
    """The sum of unary operators, each on a parameter of its own."""
    params = {f"p{i}": (shape, low, high) for i, (low, high) in enumerate(kinds.values())}
    nodes = " ".join(f"a{i} = {kind} (p{i})" for i, kind in enumerate(kinds))
    terms = ", ".join(f"a{i}" for i in range(len(kinds)))
    return Case(params, shape, f"{nodes} y = Sum({terms})")


I = np.int64
CASES = {
    "unary": each({
        "Neg": (-1, 1), "Abs": (-1, 1), "Exp": (-1, 1), "Log": (0.2, 2), "Sqrt": (0.2, 2), "Reciprocal": (0.3, 2),
        "Tanh": (-2, 2), "Sigmoid": (-3, 3), "Relu": (-1, 1), "Erf": (-2, 2),
        'Gelu <approximate = "tanh">': (-3, 3), "Sin": (-3, 3), "Cos": (-3, 3), "Tan": (-1, 1), "Asin": (-0.9, 0.9),
        "Acos": (-0.9, 0.9), "Atan": (-2, 2), "Sinh": (-2, 2), "Cosh": (-2, 2), "Asinh": (-2, 2), "Acosh": (1.2, 3),
        "Atanh": (-0.9, 0.9), "Floor": (0.1, 0.9), "Ceil": (0.1, 0.9), "Round": (0.1, 0.4)}),
    "activations": each({
        "LeakyRelu": (-1, 1), "Elu": (-2, 2), "Selu": (-2, 2), "Softplus": (-3, 3),
        "Softsign": (-2, 2), "HardSigmoid": (-2, 2), "HardSwish": (-2.9, 2.9), "Mish": (-2, 2),
        "ThresholdedRelu": (-2, 2)}),
    "gelu": Case({"p": ((3, 5), -3, 3)}, (3, 5), "h = Constant <value = double {0.5}> () r = Constant <value = double {0.7071067811865476}> () "
                 "o = Constant <value = double {1.0}> () s = Mul(p, r) e = Erf(s) f = Add(e, o) g = Mul(p, f) y = Mul(g, h)"),
    "silu": Case({"p": ((3, 5), -3, 3)}, (3, 5), "s = Sigmoid(p) y = Mul(p, s)"),
    "rsqrt": Case({"p": ((3, 5), 0.3, 2)}, (3, 5), "s = Sqrt(p) y = Reciprocal(s)"),
    "binary": Case({"a": ((3, 5), 0.5, 2), "b": ((3, 5), 0.5, 2)}, (3, 5),
                   "s = Sub(a, b) d = Div(a, b) m = Mul(a, b) p = Pow(a, b) x = Max(a, b) n = Min(a, b) "
                   "r = Mod <fmod = 1> (a, b) y = Sum(s, d, m, p, x, n, r)"),
    "broadcast": Case({"a": ((3, 1, 5), 0.5, 2), "b": ((4, 1), 0.5, 2), "c": ((1,), 0.5, 2)}, (3, 4, 5),
                      "d = Div(a, b) y = Pow(d, c)"),
    "powers": Case({"a": (3, 5)}, (3, 5), "t = Constant <value = double {2.0}> () u = Constant <value = double {3.0}> () "
                                          "s = Pow(a, t) c = Pow(a, u) y = Add(s, c)"),
    "select": Case({"a": (3, 5), "b": (3, 5)}, (3, 5), "z = Constant <value = double {0.1}> () l = Less(b, z) y = Where(l, a, b)"),
    "clip": Case({"a": (3, 5)}, (3, 5), "l = Constant <value = double {-0.45}> () h = Constant <value = double {0.55}> () "
                                        "y = Clip(a, l, h)"),
    "sum": Case({"a": (3, 5, 4)}, (3, 4), "d = Constant <value_ints = [1]> () y = ReduceSum <keepdims = 0> (a, d)"),
    "mean": Case({"a": (3, 5, 4)}, (3, 1, 1), "d = Constant <value_ints = [1, 2]> () y = ReduceMean (a, d)"),
    "extremes": Case({"a": (3, 5, 4)}, (3, 4), "d = Constant <value_ints = [1]> () u = ReduceMax <keepdims = 0> (a, d) "
                                               "l = ReduceMin <keepdims = 0> (a, d) y = Sub(u, l)"),
    "prod": Case({"a": (3, 5, 4)}, (3, 1, 1), "d = Constant <value_ints = [1, 2]> () y = ReduceProd (a, d)"),
    "prod_outer": Case({"a": (3, 5, 4)}, (5,), "d = Constant <value_ints = [0, 2]> () y = ReduceProd <keepdims = 0> (a, d)",
                       plans=["--tp 2"]),
    "norms_of_dims": Case({"a": (3, 5, 4)}, (3, 4), "d = Constant <value_ints = [1]> () u = ReduceL1 <keepdims = 0> (a, d) "
                          "v = ReduceL2 <keepdims = 0> (a, d) w = ReduceLogSumExp <keepdims = 0> (a, d) "
                          "x = ReduceSumSquare <keepdims = 0> (a, d) y = Sum(u, v, w, x)"),
    "sums": Case({"a": (3, 5, 4)}, (3, 5, 4), "d = Constant <value_int = 1> () s = CumSum(a, d) t = CumSum <exclusive = 1> (a, d) "
                 "u = CumSum <reverse = 1> (a, d) v = CumSum <exclusive = 1, reverse = 1> (a, d) b = Mul(s, t) c = Mul(u, v) y = Add(b, c)"),
    "product": Case({"a": (3, 4, 5), "b": (5, 7)}, (3, 4, 7), "y = MatMul(a, b)"),
    "products": Case({"a": (3, 2, 4, 5), "b": (2, 5, 7)}, (3, 2, 4, 7), "y = MatMul(a, b)"),
    "gemm": Case({"a": (5, 3), "b": (7, 5), "c": (7,)}, (3, 7), "y = Gemm <transA = 1, transB = 1, alpha = 0.5, beta = 2.0> (a, b, c)"),
    "einsum": Case({"a": (3, 4, 5), "b": (3, 6, 4)}, (3, 5, 6), 'y = Einsum <equation = "bij,bki->bjk"> (a, b)'),
    "movement": Case({"a": (3, 4, 5)}, (3, 12, 5), "t = Transpose <perm = [0, 2, 1]> (a) s = Constant <value_ints = [3, 4, 5]> () "
                     "r = Reshape(t, s) y = Concat <axis = 1> (r, a, r)"),
    "slices": Case({"a": (3, 9, 7)}, (3, 4, 2), "s = Constant <value_ints = [1, 6]> () e = Constant <value_ints = [9, -100]> () "
                   "x = Constant <value_ints = [1, 2]> () t = Constant <value_ints = [2, -4]> () y = Slice(a, s, e, x, t)"),
    "split": Case({"a": (3, 9)}, (3, 3), "u, v, w = Split <axis = 1, num_outputs = 3> (a) m = Mul(u, v) y = Sub(m, w)"),
    "split_part": Case({"a": (3, 9)}, (3, 2), "s = Constant <value_ints = [2, 5, 2]> () u, v, w = Split <axis = 1> (a, s) y = Mul(u, w)"),
    "pads": Case({"a": (3, 4, 5)}, (3, 7, 6), "p = Constant <value_ints = [0, 1, 0, 0, 2, 1]> () b = Pad(a, p) "
                 'c = Pad <mode = "reflect"> (a, p) d = Pad <mode = "edge"> (a, p) y = Sum(b, c, d)'),
    "expand": Case({"a": (3, 1, 5)}, (3, 4, 5), "s = Constant <value_ints = [3, 4, 5]> () y = Expand(a, s)"),
    "tile": Case({"a": (3, 2)}, (3, 6), "s = Constant <value_ints = [1, 3]> () y = Tile(a, s)"),
    "gather": Case({"a": (6, 4)}, (3, 2, 4), "y = Gather(a, i)", {"i": np.array([[0, 5], [5, 5], [-1, 2]], I)}),
    "gather_inner": Case({"a": (3, 6, 4)}, (3, 5, 4), "y = Gather <axis = 1> (a, i)", {"i": np.array([0, 3, 3, -2, 5], I)},
                         plans=["--tp 2"]),
    "gather_elements": Case({"a": (3, 6, 4)}, (3, 2, 4), "y = GatherElements <axis = 1> (a, i)",
                            {"i": np.arange(24).reshape(3, 2, 4) * 7 % 6}),
    "gather_nd": Case({"a": (3, 6, 4)}, (3, 2, 4), "y = GatherND <batch_dims = 1> (a, i)", {"i": np.array([[[1], [1]], [[5], [0]], [[2], [3]]], I)}),
    "top": Case({"a": (3, 7)}, (3, 2), "k = Constant <value_ints = [2]> () y, i = TopK(a, k)"),
    "scatter": Case({"a": (3, 6), "u": (3, 4)}, (3, 6), "y = ScatterElements <axis = 1> (a, i, u)",
                    {"i": np.array([[0, 3, 3, 1], [5, 5, 5, 0], [1, 2, 3, 4]], I)}),
    "scatter_sum": Case({"a": (3, 6), "u": (3, 4)}, (3, 6), 'y = ScatterElements <axis = 1, reduction = "add"> (a, i, u)',
                        {"i": np.array([[0, 3, 3, 1], [5, 5, 5, 0], [1, 2, 3, 4]], I)}),
    "scatter_extremes": Case({"a": (3, 6), "u": (3, 4)}, (3, 6),
                             'b = ScatterElements <axis = 1, reduction = "max"> (a, i, u) c = ScatterElements <axis = 1, reduction = "min"> (a, i, u) '
                             "y = Sub(b, c)", {"i": np.array([[0, 3, 3, 1], [5, 5, 5, 0], [1, 2, 3, 4]], I)}),
    "softmax": Case({"a": (3, 5, 4)}, (3, 5, 4), "s = Softmax <axis = 1> (a) l = LogSoftmax <axis = 2> (a) y = Add(s, l)"),
    "layer_norm": Case({"a": (3, 5, 4), "s": (5, 4), "b": (5, 4)}, (3, 5, 4), "y = LayerNormalization <axis = 1> (a, s, b)", type="float"),
    "layer_norm_double": Case({"a": (3, 20), "s": (20,)}, (3, 20), "d = Constant <value_ints = [1]> () m = ReduceMean(a, d) c = Sub(a, m) "
                              "q = Mul(c, c) v = ReduceMean(q, d) e = Constant <value = double {0.001}> () w = Add(v, e) r = Sqrt(w) "
                              "n = Div(c, r) y = Mul(n, s)"),
    "rms_norm_double": Case({"a": (3, 20), "s": (20,)}, (3, 20), "d = Constant <value_ints = [1]> () q = Mul(a, a) v = ReduceMean(q, d) "
                            "e = Constant <value = double {0.001}> () w = Add(v, e) r = Sqrt(w) n = Div(a, r) y = Mul(n, s)"),
    "rms_norm": Case({"a": (3, 5, 4), "s": (4,)}, (3, 5, 4), "y = RMSNormalization(a, s)", type="float"),
    "batch_norm": Case({"a": (3, 4, 5), "s": (4,), "b": (4,)}, (3, 4, 5), "y = BatchNormalization (a, s, b, m, v)",
                       {"m": np.array([0.1, -0.2, 0.3, 0.0]), "v": np.array([0.5, 1.0, 1.5, 2.0])}),
    "batch_norm_training": Case({"a": (3, 4, 5), "s": (4,), "b": (4,)}, (3, 4, 5),
                                "y, rm, rv = BatchNormalization <training_mode = 1> (a, s, b, m, v)",
                                {"m": np.array([0.1, -0.2, 0.3, 0.0]), "v": np.array([0.5, 1.0, 1.5, 2.0])}),
    "group_norm": Case({"a": (3, 4, 5), "s": (4,), "b": (4,)}, (3, 4, 5), "y = GroupNormalization <num_groups = 2, stash_type = 11> (a, s, b)"),
    "instance_norm": Case({"a": (3, 4, 5), "s": (4,), "b": (4,)}, (3, 4, 5), "y = InstanceNormalization(a, s, b)"),
    "lp_norm": Case({"a": (3, 4)}, (3, 4), "y = LpNormalization(a)"),
    "attention": Case({"q": (3, 2, 5, 4), "k": (3, 2, 6, 4), "v": (3, 2, 6, 3)}, (3, 2, 5, 3),
                      "t = Transpose <perm = [0, 1, 3, 2]> (k) p = MatMul(q, t) h = Constant <value = double {0.5}> () s = Mul(p, h) "
                      "w = Softmax(s) y = MatMul(w, v)"),
    "attention_mask": Case({"q": (3, 2, 5, 4), "k": (3, 2, 5, 4), "v": (3, 2, 5, 4), "m": (2, 5, 5)}, (3, 2, 5, 4),
                           "t = Transpose <perm = [0, 1, 3, 2]> (k) p = MatMul(q, t) s = Add(p, m) w = Softmax(s) y = MatMul(w, v)"),
    "attention_causal": Case({"q": (3, 2, 5, 4), "k": (3, 2, 5, 4), "v": (3, 2, 5, 4)}, (3, 2, 5, 4),
                             "t = Transpose <perm = [0, 1, 3, 2]> (k) p = MatMul(q, t) o = Constant <value_float = 1.0> () "
                             "n = Constant <value_ints = [5, 5]> () f = Expand(o, n) l = Trilu <upper = 0> (f) b = Cast <to = 9> (l) "
                             "i = Constant <value = double {-1e30}> () s = Where(b, p, i) w = Softmax(s) y = MatMul(w, v)"),
    "cross_entropy": Case({"a": (5, 7)}, (), 'y = SoftmaxCrossEntropyLoss <ignore_index = 3> (a, i)', {"i": np.array([0, 3, 6, 2, 3], I)}),
    "cross_entropy_rows": Case({"a": (3, 4, 2), "w": ((4,), 0.5, 2)}, (3, 2), 'y = SoftmaxCrossEntropyLoss <reduction = "none"> (a, i, w)',
                               {"i": np.array([[0, 3], [1, 1], [2, 0]], I)}),
    "likelihood": Case({"a": (5, 7)}, (), "l = LogSoftmax(a) y = NegativeLogLikelihoodLoss (l, i)", {"i": np.array([0, 3, 6, 2, 3], I)}),
    "max_pool": Case({"a": (3, 2, 7, 8)}, (3, 2, 3, 4), "y = MaxPool <kernel_shape = [3, 3], pads = [0, 1, 0, 1], strides = [2, 2]> (a)"),
    "max_pool_dilated": Case({"a": (3, 2, 9)}, (3, 2, 5), "y = MaxPool <kernel_shape = [3], dilations = [2]> (a)"),
    "average_pool": Case({"a": (3, 2, 7, 8)}, (3, 2, 4, 4), "y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (a)"),
    "average_pool_padded": Case({"a": (3, 2, 7)}, (3, 2, 4), "y = AveragePool <kernel_shape = [3], pads = [1, 1], strides = [2], count_include_pad = 1> (a)"),
    "global_pool": Case({"a": (3, 2, 4, 5)}, (3, 2, 1, 1), "u = GlobalAveragePool(a) v = GlobalMaxPool(a) y = Add(u, v)"),
    "conv": Case({"a": (3, 4, 7, 6), "w": (6, 4, 3, 2), "b": (6,)}, (3, 6, 4, 4), "y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (a, w, b)", type="float"),
    "conv_line": Case({"a": (3, 4, 9), "w": (6, 4, 3)}, (3, 6, 5), "y = Conv <dilations = [2]> (a, w)", type="float"),
    "conv_rest": Case({"a": (3, 2, 10), "w": (3, 2, 3)}, (3, 3, 3), "y = Conv <strides = [3]> (a, w)", type="float"),
    "conv_groups": Case({"a": (3, 4, 5, 5), "w": (6, 2, 3, 3)}, (3, 6, 3, 3), "y = Conv <group = 2> (a, w)", type="float"),
    "conv_channels": Case({"a": (3, 4, 5, 5), "w": (4, 1, 3, 3)}, (3, 4, 3, 3), "y = Conv <group = 4> (a, w)", type="float"),
    "conv_volume": Case({"a": (2, 2, 3, 4, 3), "w": (3, 2, 2, 2, 2)}, (2, 3, 2, 3, 2), "y = Conv (a, w)", type="float"),
    "conv_transposed": Case({"a": (3, 4, 4, 3), "w": (4, 5, 3, 2)}, (3, 5, 7, 6), "y = ConvTranspose <pads = [1, 0, 1, 0], strides = [2, 2]> (a, w)",
                            type="float"),
    "conv_transposed_groups": Case({"a": (3, 4, 4), "w": (4, 3, 3)}, (3, 6, 10), "y = ConvTranspose <strides = [2], group = 2, output_padding = [1]> (a, w)",
                                   type="float"),
    "resize_linear": Case({"a": (3, 2, 4, 5)}, (3, 2, 8, 7), "s = Constant <value_ints = [3, 2, 8, 7]> () y = Resize <mode = \"linear\"> (a, , , s)"),
    "resize_cubic": Case({"a": (3, 2, 4, 5)}, (3, 2, 8, 7), "s = Constant <value_ints = [3, 2, 8, 7]> () "
                         "y = Resize <mode = \"cubic\", coordinate_transformation_mode = \"align_corners\"> (a, , , s)", type="float"),
    "resize_nearest": Case({"a": (3, 2, 4, 5)}, (3, 2, 8, 15), "s = Constant <value_floats = [1.0, 1.0, 2.0, 3.0]> () y = Resize <mode = \"nearest\"> (a, , s)"),
    "lstm": Case({"x": (4, 3, 2), "w": (1, 20, 2), "r": (1, 20, 5), "b": (1, 40)}, (4, 1, 3, 5), "y = LSTM <hidden_size = 5> (x, w, r, b)", type="float",
                 plans=[]),
    "gru": Case({"x": (4, 3, 2), "w": (1, 15, 2), "r": (1, 15, 5)}, (4, 1, 3, 5), "y = GRU <hidden_size = 5> (x, w, r)", type="float", plans=[]),
}
OPSETS = '[ "": 23 ]'


def declare(type, name, shape):
    return f"{type}[{','.join(map(str, shape))}] {name}" if len(shape) else f"{type} {name}"


def make_model(case, type):
    nodes = case.nodes if type == "double" else case.nodes.replace("double", type)
    inputs = [declare(type, "cotangent", case.y)]
    inputs += [declare("int64" if a.dtype == I else type, n, a.shape) for n, a in case.indices.items()]
    params = [declare(type, n, shape) for n, (shape, _, _) in case.params.items()]
    text = (f"<ir_version: 10, opset_import: {OPSETS}> g ({', '.join(inputs + params)}) => ({type} loss) "
            f"{{ {nodes} weighted = Mul(y, cotangent) loss = ReduceSum <keepdims = 0> (weighted) }}")
    return onnx.parser.parse_model(text)


def get_differences(case, params, inputs):
    """Central differences of the loss."""
    evaluator = ReferenceEvaluator(make_model(case, "double"), new_ops=[Erf, ConvTranspose])

    def loss(name, index, step):
        moved = {n: a.copy() for n, a in params.items()}
        moved[name][index] += step
        return float(evaluator.run(["loss"], {**inputs, **moved})[0])

    return {name: np.array([(loss(name, i, STEP) - loss(name, i, -STEP)) / (2 * STEP)
                            for i in np.ndindex(array.shape)]).reshape(array.shape) for name, array in params.items()}


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout[-3000:]}")


def get_gradients(work, case, params, inputs, flags):
    dtype = np.dtype(case.type if case.type == "double" else "float32")
    model = make_model(case, case.type)
    for name, array in params.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(dtype), name))
    kept = [value for value in model.graph.input if value.name not in params]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    model_file, fed, out, found = (os.path.join(work, n) for n in ("m.onnx", "in.npz", "out", "out.npz"))
    onnx.save(model, model_file)
    np.savez(fed, **{n: a if a.dtype == I else a.astype(dtype) for n, a in inputs.items()})
    call("cleave", "compile", model_file, "-o", out, "--train", "--optimizer", "none", *flags.split())
    call("cleave", "run", out, "--loopback", "--input", fed, "--output", found)
    with np.load(found) as arrays:
        return {name: arrays[name + ".grad"] if name + ".grad" in arrays else np.zeros(array.shape)
                for name, array in params.items()}


def check(work, flags, name, case):
    random = np.random.default_rng(len(name))
    params = {n: random.uniform(low, high, shape) for n, (shape, low, high) in case.params.items()}
    if case.type == "float":
        params = {n: a.astype(np.float32).astype(np.float64) for n, a in params.items()}
    inputs = {"cotangent": random.integers(-8, 8, case.y) / 4.0 + 0.125, **case.indices}
    expected = get_differences(case, params, inputs)
    largest = max(np.abs(value).max() for value in expected.values())
    wrong = []
    for plan in ["", *case.plans]:
        try:
            found = get_gradients(work, case, params, inputs, f"{plan} {flags}")
        except RuntimeError as error:
            wrong.append(f"{name} '{plan}': {error}")
            continue
        for param, value in expected.items():
            error = np.abs(found[param] - value).max() / largest
            if not error <= TOLERANCE[case.type]:
                wrong.append(f"{name} '{plan}': gradient of '{param}' is {error:.1e} of the largest off:\n{found[param]}\nexpected\n{value}")
    return wrong


def main(work, *names):
    flags = " ".join(name.removeprefix("--flags=") for name in names if name.startswith("--flags="))
    names = [name for name in names if not name.startswith("--flags=")]
    os.makedirs(work, exist_ok=True)
    wrong, runs = [], 0
    for name in names or CASES:
        found = check(work, flags, name, CASES[name])
        runs += 1 + len(CASES[name].plans)
        wrong += found
        if found:
            print("\n".join(found), flush=True)
    if wrong:
        sys.exit(f"{len(wrong)} wrong")
    print(f"all {runs} runs agree with finite differences")


main(*sys.argv[1:])
