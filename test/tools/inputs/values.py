"""values.py MODEL.onnx X.npz REF.npz [NAME...] - a model of four products, its input, and
what ONNX Runtime makes of every value in it, or of these alone.

values.py wrong MODEL.onnx WRONG.onnx - the model with one weight of the second layer
changed, which is element [1, 2] of `w2`.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def make():
    random = np.random.default_rng(1)
    weights = {f"w{i}": random.standard_normal((8, 8)).astype(np.float32) for i in (1, 2, 3, 4)}
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "w1"], ["a"], "first"),
        node("Relu", ["a"], ["b"], "act"),
        node("MatMul", ["b", "w2"], ["c"], "second"),
        node("Shape", ["c"], ["size"], "size"),
        node("Reshape", ["c", "size"], ["same"], "same"),
        node("MatMul", ["b", "w3"], ["d[0]"], "beside"),
        node("Add", ["same", "d[0]"], ["e"], "sum"),
        node("MatMul", ["e", "w4"], ["y"], "last"),
    ]
    io = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 8]) for n in "xy"]
    graph = helper.make_graph(nodes, "values", io[:1], io[1:], [numpy_helper.from_array(w, n) for n, w in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


if sys.argv[1] == "wrong":
    model = onnx.load(sys.argv[2])
    for tensor in model.graph.initializer:
        if tensor.name == "w2":
            w = numpy_helper.to_array(tensor).copy()
            w[1, 2] += 1
            tensor.CopyFrom(numpy_helper.from_array(w, "w2"))
    onnx.save(model, sys.argv[3])
else:
    model, x, ref, *wanted = sys.argv[1:]
    made = make()
    onnx.save(made, model)
    data = np.random.default_rng(2).standard_normal((4, 8)).astype(np.float32)
    np.savez(x, x=data)
    # ONNX Runtime gives the value of any name that is an output.
    del made.graph.output[:]
    made.graph.output.extend(onnx.ValueInfoProto(name=n) for node in made.graph.node for n in node.output)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    values = dict(zip(names, session.run(None, {"x": data})))
    np.savez(ref, **{n: values[n] for n in wanted or names})
