#!/usr/bin/env python3
"""A linear model that is trained, and what training by hand makes of it.

export.py make FOLDER          model.onnx, external.onnx (large tensors in a file beside it), in.npz
export.py check MODEL.onnx N   ONNX Runtime's output of it is that after N steps
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RATE = 0.1
random = np.random.default_rng(0)
X, LABELS = random.standard_normal((8, 6)), random.standard_normal((8, 4))
FIXED = random.standard_normal((3, 8, 4))  # a node's: never trained
W, B = random.standard_normal((6, 4)), random.standard_normal(4)


def make(folder):
    tensors = {"w": W.astype(np.float32), "b": B.astype(np.float32),
               "rows": np.arange(8)[::-1].copy(), "shape": np.array([2, 16], np.int64)}
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["xw"]),
         helper.make_node("Add", ["xw", "b"], ["sum"]),
         helper.make_node("Constant", [], ["fixed"],
                          value=numpy_helper.from_array(FIXED.astype(np.float32))),
         helper.make_node("ReduceMean", ["fixed"], ["mean"], axes=[0], keepdims=0),
         helper.make_node("Add", ["sum", "mean"], ["moved"]),
         helper.make_node("Gather", ["moved", "rows"], ["turned"]),
         helper.make_node("Reshape", ["turned", "shape"], ["y"])],
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 16])],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{folder}/model.onnx")
    onnx.save(model, f"{folder}/external.onnx", save_as_external_data=True,
              location="weights.bin", size_threshold=64)
    np.savez(f"{folder}/in.npz", x=X.astype(np.float32),
             labels=LABELS[::-1].reshape(2, 16).astype(np.float32))


def train(steps):
    """Gradient descent on the mean of squares, in float64."""
    w, b = W.copy(), B.copy()
    for _ in range(steps):
        slope = 2 * (X @ w + b + FIXED.mean(0) - LABELS) / LABELS.size
        w, b = w - RATE * X.T @ slope, b - RATE * slope.sum(0)
    return X @ w + b + FIXED.mean(0)


def check(path, steps):
    onnx.checker.check_model(path)
    session = onnxruntime.InferenceSession(path)
    found = session.run(["y"], {"x": X.astype(np.float32)})[0].reshape(8, 4)[::-1]
    error = np.abs(found - train(steps)).max()
    assert error < 1e-5, error
    assert np.abs(train(steps) - train(0)).max() > 1e-2
    print(f"as after {steps} steps")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        check(sys.argv[2], int(sys.argv[3]))
