"""Runs RNN, GRU and LSTM in all their variants on several plans, against ONNX Runtime.

recurrent.py WORK
"""

import itertools
import sys

import numpy as np
import onnx
from against_ort import PLANS, check
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 6, 4
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


def make_model(op, direction, operands, lengths, attributes):
    """`operands`: which of B, h, c, P there are. Weights are initializers, states are inputs."""
    random = np.random.default_rng(0)
    count, rows = DIRECTIONS[direction], GATES[op] * HIDDEN
    state = (count, BATCH, HIDDEN)
    shapes = {"w": (count, rows, INPUT), "r": (count, rows, HIDDEN), "b": (count, 2 * rows), "p": (count, 3 * HIDDEN)}
    weights = {name: random.uniform(-1, 1, shape).astype(np.float32) for name, shape in shapes.items()
               if name in "wr" or name in operands}
    inputs = {"x": random.standard_normal((STEPS, BATCH, INPUT), np.float32)}
    inputs |= {name: random.uniform(-1, 1, state).astype(np.float32) for name in "hc" if name in operands}
    if lengths:
        inputs["lengths"] = np.array(lengths, np.int32)
    order = ["x", "w", "r", "b", "lengths", "h"] + ["c", "p"] * (op == "LSTM")
    given = weights.keys() | inputs.keys()
    outputs = ["y", "last"] + ["memory"] * (op == "LSTM")
    node = helper.make_node(op, [name if name in given else "" for name in order], outputs, name="cell",
                            hidden_size=HIDDEN, direction=direction, **attributes)
    graph = helper.make_graph(
        [node], "main",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for name, value in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, (STEPS, count, BATCH, HIDDEN) if name == "y" else state)
         for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), inputs


def list_cases():
    """A name, and the arguments of make_model. Those with a direction in their name run on all plans."""
    for op, direction in itertools.product(GATES, DIRECTIONS):
        yield f"{op}-{direction}", (op, direction, "bh" + "c" * (op == "LSTM"), None, {})
    for op in GATES:
        yield f"{op}-plain", (op, "forward", "", None, {})
        yield f"{op}-lengths", (op, "bidirectional", "bh", [5, 2, 3], {})
        yield f"{op}-clip", (op, "forward", "b", None, {"clip": 0.5})
        activations = {"RNN": ["Relu"], "GRU": ["Tanh", "Sigmoid"], "LSTM": ["Sigmoid", "Relu", "Tanh"]}[op]
        yield f"{op}-activations", (op, "forward", "b", None, {"activations": activations})
    for direction in DIRECTIONS:
        yield f"GRU-{direction}-reset-after", ("GRU", direction, "bh", None, {"linear_before_reset": 1})
    yield "LSTM-peepholes", ("LSTM", "bidirectional", "bhcp", None, {})
    yield "LSTM-coupled", ("LSTM", "forward", "bhc", None, {"input_forget": 1})


def main(work):
    for name, arguments in list_cases():
        model, inputs = make_model(*arguments)
        onnx.checker.check_model(model)
        on_all = any(direction in name for direction in DIRECTIONS)
        check(name, model, inputs, work, 1e-5, PLANS if on_all else [""])


main(sys.argv[1])
