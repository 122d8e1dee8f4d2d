"""A model with an op of each kernel class, with ONNX Runtime's answers.

cuda_kernels.py STEM ROWS COLUMNS    writes STEM.onnx, STEM.in.npz, STEM.expected.npz
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

NODES = [
    ("Add", ["x", "b"], ["sum"], {}),
    ("Erf", ["sum"], ["erf"], {}),
    ("Mul", ["erf", "sum"], ["elementwise"], {}),
    ("Tanh", ["x"], ["tanh"], {}),
    ("Sin", ["x"], ["sin"], {}),
    ("Softmax", ["x"], ["softmax"], {"axis": -1}),
    ("LogSoftmax", ["x"], ["log_softmax"], {"axis": 0}),
    ("LayerNormalization", ["x", "g", "b"], ["norm"], {"axis": -1}),
    ("ReduceSum", ["x", "first"], ["columns"], {"keepdims": 0}),
    ("ReduceMax", ["x", "second"], ["rows"], {"keepdims": 0}),
    ("ReduceMean", ["x"], ["mean"], {"keepdims": 0}),
    ("Transpose", ["x"], ["turned"], {"perm": [1, 0]}),
    ("Exp", ["turned"], ["exp"], {}),
    ("Log", ["exp"], ["log"], {}),
    ("Pow", ["exp", "power"], ["pow"], {}),
    ("Gather", ["x", "ids"], ["gather"], {"axis": 0}),
    ("ScatterElements", ["x", "places", "new"], ["scatter"], {"axis": 1}),
    ("Concat", ["x", "gather"], ["concat"], {"axis": 0}),
    ("Pad", ["x", "pads"], ["pad"], {}),
    ("CumSum", ["x", "one"], ["cumsum"], {}),
    ("TopK", ["x", "k"], ["best", "best_at"], {"axis": -1}),
    ("ArgMax", ["x"], ["argmax"], {"axis": 1, "keepdims": 0}),
    ("Reshape", ["x", "image"], ["pixels"], {}),
    ("MaxPool", ["pixels"], ["pool"], {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0]}),
    ("AveragePool", ["pixels"], ["average"], {"kernel_shape": [2, 3], "pads": [0, 1, 0, 1]}),
    ("Resize", ["pixels", "", "scales"], ["larger"], {"mode": "linear"}),
    ("Resize", ["pixels", "", "scales"], ["nearest"], {"mode": "nearest"}),
    ("Resize", ["pixels", "", "scales"], ["cubic"], {"mode": "cubic", "coordinate_transformation_mode": "asymmetric"}),
    ("Greater", ["x", "b"], ["greater"], {}),
]
HIDDEN = {"sum", "erf", "exp", "pixels"}


def main():
    stem, rows, columns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    rng = np.random.default_rng(rows)
    inputs = {
        "x": rng.standard_normal((rows, columns), np.float32),
        "b": rng.standard_normal(columns, np.float32),
        "g": rng.standard_normal(columns, np.float32),
        "new": rng.standard_normal((rows, 3), np.float32),
        "ids": np.int64([0, 3, rows - 1, -1, 2, 1, -rows]),
        "places": np.int64(rng.permuted(np.tile(np.arange(columns), (rows, 1)), axis=1)[:, :3]),
    }
    constants = {
        "first": np.int64([0]), "second": np.int64([1]), "one": np.int64(1), "k": np.int64([5]),
        "power": np.float32(1.7), "pads": np.int64([1, 2, 3, 4]), "image": np.int64([1, 1, rows, columns]),
        "scales": np.float32([1, 1, 1.5, 2]),
    }
    outputs = [name for node in NODES for name in node[2] if name not in HIDDEN]
    graph = helper.make_graph(
        [helper.make_node(op, ins, outs, **attributes) for op, ins, outs, attributes in NODES],
        "kernels",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    model = onnx.shape_inference.infer_shapes(model)
    inferred = {info.name: info for info in model.graph.value_info}
    for output in model.graph.output:
        if output.name in inferred:
            output.CopyFrom(inferred[output.name])
    onnx.checker.check_model(model)
    onnx.save(model, stem + ".onnx")
    np.savez(stem + ".in.npz", **inputs)
    found = onnxruntime.InferenceSession(stem + ".onnx").run(outputs, inputs)
    np.savez(stem + ".expected.npz", **dict(zip(outputs, found)))


main()
