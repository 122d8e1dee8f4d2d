# annotated.py - a perceptron with ONNX's sharding annotations.
#
# usage: annotated.py MODEL.onnx [CASE]
#        annotated.py data IN.npz OUT.npz       integers: exact whatever the order
#        annotated.py strip MODEL.onnx          takes metadata out
#        annotated.py print MODEL.onnx          annotations, a line each
#
#   h = x up, a = relu(h), y = a down;  x [8, 12], up [12, 30], down [30, 12]

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(7)
x = rng.integers(-4, 5, (8, 12)).astype(np.float32)
up = rng.integers(-4, 5, (12, 30)).astype(np.float32)
down = rng.integers(-4, 5, (30, 12)).astype(np.float32)


def make():
    nodes = [
        helper.make_node("MatMul", ["x", "up"], ["h"], name="fc1"),
        helper.make_node("Relu", ["h"], ["a"], name="act"),
        helper.make_node("MatMul", ["a", "down"], ["y"], name="fc2"),
    ]
    graph = helper.make_graph(
        nodes,
        "perceptron",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 12])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 12])],
        [numpy_helper.from_array(up, "up"), numpy_helper.from_array(down, "down")],
    )
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=11)


def configure(model, name, devices):
    model.configuration.add(name=name, num_devices=devices)


def annotate(model, name, node, stage=None, **tensors):
    """Each tensor: (devices or groups of them, {axis: shards or [(size, shards)]})."""
    target = next(n for n in model.graph.node if n.name == node)
    entries = target.device_configurations
    entry = next((e for e in entries if e.configuration_id == name), None)
    entry = entry or entries.add(configuration_id=name)
    if stage is not None:
        entry.pipeline_stage = stage
    for tensor, (devices, axes) in tensors.items():
        spec = entry.sharding_spec.add(tensor_name=tensor)
        for i, device in enumerate(devices):
            spec.device.append(-1 - i if isinstance(device, list) else device)
            if isinstance(device, list):
                spec.index_to_device_group_map.add(key=-1 - i, value=device)
        for axis, parts in axes.items():
            dim = spec.sharded_dim.add(axis=axis)
            for size, shards in parts if isinstance(parts, list) else [(0, parts)]:
                part = dim.simple_sharding.add(num_shards=shards)
                if size:
                    part.dim_value = size


def tp(model, ranks, block=0):
    """Columns of the first product, rows of the second; 30 need not divide."""
    split = [(block, ranks)] if block else ranks
    name, devices = f"tp{ranks}", list(range(ranks))
    configure(model, name, ranks)
    annotate(model, name, "fc1", x=([devices], {}), up=(devices, {-1: split}))
    annotate(model, name, "fc2", down=(devices, {0: split}), y=([devices], {}))


def pipeline(model, first):
    configure(model, "pp2", 2)
    for node, stage in [("fc1", first), ("act", first), ("fc2", first + 1)]:
        annotate(model, "pp2", node, stage)


def grid(model):
    """Groups of two: the batch over {0, 1} and {2, 3}, columns over {0, 2} and {1, 3}."""
    configure(model, "grid", 4)
    rows, columns = [[0, 1], [2, 3]], [[0, 2], [1, 3]]
    annotate(model, "grid", "fc1", x=(rows, {0: 2}), up=(columns, {1: 2}))
    annotate(model, "grid", "fc1", h=([0, 1, 2, 3], {0: 2, 1: 2}))
    annotate(model, "grid", "fc2", down=(columns, {0: 2}))


def reshard(model):
    """The first product by columns, relu by rows of the batch."""
    configure(model, "reshard", 2)
    annotate(model, "reshard", "fc1", h=([0, 1], {1: 2}))
    annotate(model, "reshard", "act", h=([0, 1], {0: 2}), a=([0, 1], {0: 2}))


def two(model):
    tp(model, 2)
    pipeline(model, 0)


def both(model):
    tp(model, 2)
    tp(model, 3)


def bad(node="fc1", stage=None, devices=2, name="c", **tensors):
    def change(model):
        configure(model, "c", devices)
        annotate(model, name, node, stage, **tensors)

    return change


def contradict(model):
    configure(model, "c", 2)
    annotate(model, "c", "fc1", up=([0, 1], {1: 2}), h=([[0, 1]], {}))
    annotate(model, "c", "fc1", h=([0, 1], {1: 2}))


def crossed(model):
    configure(model, "c", 2)
    annotate(model, "c", "fc1", 1)
    annotate(model, "c", "fc2", 0)


cases = {
    "plain": lambda model: None,
    "tp2": lambda model: tp(model, 2),
    "tp3": lambda model: tp(model, 3),
    "tp4": lambda model: tp(model, 4),
    "blocks": lambda model: tp(model, 4, block=6),
    "pp2": lambda model: pipeline(model, 0),
    "from1": lambda model: pipeline(model, 1),
    "grid": grid,
    "reshard": reshard,
    "two": two,
    "both": both,
    "undeclared": bad(name="d"),
    "tensor": bad(z=([0, 1], {0: 2})),
    "other": bad(down=([0, 1], {0: 2})),
    "axis": bad(up=([0, 1], {2: 2})),
    "twice": bad(up=([0, 1], {1: 1, -1: 2})),
    "device": bad(up=([0, 2], {1: 2})),
    "held": bad(up=([0, 0], {1: 2})),
    "shards": bad(up=([0, 1], {0: 2, 1: 2})),
    "blocks7": bad(up=([0, 1], {1: [(7, 2)]})),
    "parts": bad(up=([0, 1], {1: [(5, 1), (5, 2)]})),
    "stage": bad(stage=-1),
    "none": bad(devices=0),
    "part": bad(devices=4, h=([0, 1], {1: 2})),
    "lone": bad(devices=2, up=([0], {})),
    "contradict": contradict,
    "crossed": crossed,
}


def show(model):
    for configuration in model.configuration:
        print(f"configuration {configuration.name}: {configuration.num_devices}")
    for node in model.graph.node:
        for entry in node.device_configurations:
            stage = f" stage {entry.pipeline_stage}" if entry.HasField("pipeline_stage") else ""
            print(f"{node.name}: {entry.configuration_id}{stage}")
            for spec in entry.sharding_spec:
                groups = {g.key: list(g.value) for g in spec.index_to_device_group_map}
                dims = [
                    (d.axis, [(s.dim_value, s.num_shards) for s in d.simple_sharding])
                    for d in spec.sharded_dim
                ]
                print(f"  {spec.tensor_name}: {[groups.get(d, d) for d in spec.device]} {dims}")


if __name__ == "__main__":
    if sys.argv[1] == "data":
        np.savez(sys.argv[2], x=x)
        np.savez(sys.argv[3], y=np.maximum(x @ up, 0) @ down)
    elif sys.argv[1] == "strip":
        model = onnx.load(sys.argv[2])
        del model.metadata_props[:]
        onnx.save(model, sys.argv[2])
    elif sys.argv[1] == "print":
        show(onnx.load(sys.argv[2]))
    else:
        model = make()
        cases[sys.argv[2]](model)
        onnx.save(model, sys.argv[1])
