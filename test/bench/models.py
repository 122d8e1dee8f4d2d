"""Models of published shapes with random weights, built as exporters write them.

make(NAME, FOLDER) writes NAME.onnx and NAME.npz (its inputs) and returns their paths.
Weights are drawn with a fixed seed and small, so that activations stay finite.
Of those to train NAME.npz has labels too, and NAME.weights.npz all parameters.

  gpt2      GPT-2 of 124M parameters, 1 x 128 tokens (Radford et al. 2019)
  minilm-1  all-MiniLM-L6: 6 layers, width 384, 12 heads; 1 x 128 tokens and a mask
  minilm-8  the same at 8 x 128
  resnet50  224 x 224, BatchNormalization unfolded (He et al. 2016)
  products  4 products of 512 x 1024 by 1024 x 1024: as fast as products get
  dlrm      8 tables of 100,000 x 64, bags of 4, dot interaction; batch 128

to train, 3.3M parameters each:
  gpt2-small  4 layers, width 256, 4 heads, bytes; 16 x 128 tokens
  vit-small   the same layers on 144 patches and a class token; 16 images, 100 classes
"""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Appends nodes; every method returns the name of its result."""

    def __init__(self, seed=0):
        self.nodes, self.weights, self.inputs = [], [], []
        self.feeds, self.labels = {}, {}
        self.random = np.random.default_rng(seed)

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, names[0], **attributes))
        return names[0] if outputs == 1 else names

    def array(self, value):
        """A tensor that no training changes."""
        return self.op("Constant", value=numpy_helper.from_array(value))

    def const(self, value, dtype=np.int64):
        name = f"const_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def weight(self, *shape, scale=0.02, shift=0.0):
        value = self.random.standard_normal(shape, np.float32) * scale + shift
        return self.const(value, np.float32)

    def input(self, name, value):
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, kind, value.shape))
        self.feeds[name] = value
        return name

    def linear(self, x, fan_in, fan_out):
        product = self.op("MatMul", x, self.weight(fan_in, fan_out))
        return self.op("Add", product, self.weight(fan_out))

    def layer_norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width, shift=1.0),
                       self.weight(width), axis=-1, epsilon=1e-5)

    def reshape(self, x, *shape):
        return self.op("Reshape", x, self.const(shape))

    def scalar(self, kind, x, value):
        return self.op(kind, x, self.const(value, np.float32))

    def save(self, folder, name, output):
        graph = helper.make_graph(
            self.nodes, name, self.inputs,
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        model = onnx.shape_inference.infer_shapes(model)
        path = os.path.join(folder, name)
        onnx.save(model, path + ".onnx")
        np.savez(path + ".npz", **self.feeds, **self.labels)
        if self.labels:
            arrays = map(numpy_helper.to_array, self.weights)
            np.savez(path + ".weights.npz", *[w for w in arrays if w.ndim and w.dtype == np.float32])
        return path + ".onnx", path + ".npz"


def attention(g, x, batch, tokens, width, heads, mask=None):
    """x: [batch, tokens, width]; mask: added to the scores."""
    size = width // heads
    split = lambda y, perm: g.op("Transpose", g.reshape(y, batch, tokens, heads, size), perm=perm)
    q = split(g.linear(x, width, width), [0, 2, 1, 3])
    k = split(g.linear(x, width, width), [0, 2, 3, 1])
    v = split(g.linear(x, width, width), [0, 2, 1, 3])
    scores = g.scalar("Div", g.op("MatMul", q, k), size ** 0.5)
    weights = g.op("Softmax", g.op("Add", scores, mask) if mask else scores, axis=-1)
    joined = g.op("Transpose", g.op("MatMul", weights, v), perm=[0, 2, 1, 3])
    return g.linear(g.reshape(joined, batch, tokens, width), width, width)


def gelu_tanh(g, x):
    cube = g.scalar("Mul", g.scalar("Pow", x, 3.0), 0.044715)
    inner = g.scalar("Mul", g.op("Add", x, cube), (2 / np.pi) ** 0.5)
    return g.op("Mul", g.scalar("Mul", x, 0.5), g.scalar("Add", g.op("Tanh", inner), 1.0))


def gelu_erf(g, x):
    erf = g.op("Erf", g.scalar("Div", x, 2 ** 0.5))
    return g.scalar("Mul", g.op("Mul", x, g.scalar("Add", erf, 1.0)), 0.5)


def make_gpt2(g, batch=1, tokens=128, width=768, layers=12, heads=12, vocabulary=50257, tied=True):
    ids = g.input("input_ids", g.random.integers(0, vocabulary, (batch, tokens)))
    table = g.weight(vocabulary, width)
    x = g.op("Add", g.op("Gather", table, ids), g.weight(1, tokens, width))
    mask = g.array(np.triu(np.full((1, 1, tokens, tokens), -1e9, np.float32), 1))
    for _ in range(layers):
        x = g.op("Add", x, attention(g, g.layer_norm(x, width), batch, tokens, width, heads, mask))
        hidden = gelu_tanh(g, g.linear(g.layer_norm(x, width), width, 4 * width))
        x = g.op("Add", x, g.linear(hidden, 4 * width, width))
    x = g.layer_norm(x, width)
    head = g.op("Transpose", table, perm=[1, 0]) if tied else g.weight(width, vocabulary)
    return g.op("MatMul", x, head)


def make_gpt2_small(g, batch=16, tokens=128, vocabulary=256):
    g.labels["labels"] = g.random.integers(0, vocabulary, (batch, tokens))
    return make_gpt2(g, batch, tokens, width=256, layers=4, heads=4, vocabulary=vocabulary,
                     tied=False)


def make_vit_small(g, batch=16, size=96, patch=8, width=256, layers=4, heads=4, classes=100):
    g.labels["labels"] = g.random.integers(0, classes, batch)
    image = g.input("image", g.random.standard_normal((batch, 3, size, size), np.float32))
    tokens = (size // patch) ** 2 + 1
    x = g.op("Conv", image, g.weight(width, 3, patch, patch), g.weight(width),
             kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = g.op("Transpose", g.reshape(x, batch, width, tokens - 1), perm=[0, 2, 1])
    start = g.op("Expand", g.weight(1, 1, width), g.const([batch, 1, width]))
    x = g.op("Add", g.op("Concat", start, x, axis=1), g.weight(1, tokens, width))
    for _ in range(layers):
        x = g.op("Add", x, attention(g, g.layer_norm(x, width), batch, tokens, width, heads))
        hidden = gelu_erf(g, g.linear(g.layer_norm(x, width), width, 4 * width))
        x = g.op("Add", x, g.linear(hidden, 4 * width, width))
    chosen = g.op("Gather", g.layer_norm(x, width), g.const(0), axis=1)
    return g.linear(chosen, width, classes)


def make_minilm(g, batch, tokens=128, width=384, layers=6, heads=12, vocabulary=30522):
    ids = g.input("input_ids", g.random.integers(0, vocabulary, (batch, tokens)))
    seen = g.input("attention_mask", np.ones((batch, tokens), np.int64))
    hidden = g.op("Cast", g.op("Unsqueeze", seen, g.const([1, 2])), to=TensorProto.FLOAT)
    mask = g.scalar("Mul", g.op("Sub", g.const(1.0, np.float32), hidden), -1e9)
    x = g.op("Add", g.op("Gather", g.weight(vocabulary, width), ids), g.weight(1, tokens, width))
    x = g.layer_norm(x, width)
    for _ in range(layers):
        x = g.layer_norm(g.op("Add", attention(g, x, batch, tokens, width, heads, mask), x), width)
        wide = gelu_erf(g, g.linear(x, width, 4 * width))
        x = g.layer_norm(g.op("Add", g.linear(wide, 4 * width, width), x), width)
    return x


def make_resnet50(g, size=224):
    def conv(x, fan_in, fan_out, kernel, stride):
        pad = kernel // 2
        scale = (2.0 / (fan_in * kernel * kernel)) ** 0.5
        x = g.op("Conv", x, g.weight(fan_out, fan_in, kernel, kernel, scale=scale),
                 kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4)
        mean_variance = g.weight(fan_out, scale=0.1), g.weight(fan_out, scale=0.05, shift=1.0)
        return g.op("BatchNormalization", x, g.weight(fan_out, shift=1.0), g.weight(fan_out),
                    *mean_variance)

    relu = lambda x: g.op("Relu", x)
    x = g.input("input", g.random.standard_normal((1, 3, size, size), np.float32))
    x = relu(conv(x, 3, 64, 7, 2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    fan_in = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            short = x if block else conv(x, fan_in, 4 * width, 1, step)
            y = relu(conv(x, fan_in, width, 1, 1))
            y = relu(conv(y, width, width, 3, step))
            x = relu(g.op("Add", conv(y, width, 4 * width, 1, 1), short))
            fan_in = 4 * width
    pooled = g.op("Flatten", g.op("GlobalAveragePool", x), axis=1)
    return g.linear(pooled, 2048, 1000)


def make_products(g, rows=512, width=1024, count=4):
    x = g.input("input", g.random.standard_normal((rows, width), np.float32))
    for _ in range(count):
        x = g.op("MatMul", x, g.weight(width, width))
    return x


def make_dlrm(g, batch=128, tables=8, rows=100000, width=64, bag=4):
    dense = g.input("dense", g.random.standard_normal((batch, 13), np.float32))
    indices = g.input("idx", g.random.integers(0, rows, (batch, tables, bag)))
    relu = lambda x: g.op("Relu", x)
    bottom = relu(g.linear(relu(g.linear(dense, 13, 512)), 512, width))
    features = [g.op("Unsqueeze", bottom, g.const([1]))]
    for table in range(tables):
        chosen = g.op("Gather", indices, g.const(table), axis=1)
        rows_of = g.op("Gather", g.weight(rows, width, scale=0.1), chosen)
        bagged = g.op("ReduceSum", rows_of, g.const([1]), keepdims=0)
        features.append(g.op("Unsqueeze", bagged, g.const([1])))
    joined = g.op("Concat", *features, axis=1)
    dots = g.op("MatMul", joined, g.op("Transpose", joined, perm=[0, 2, 1]))
    count = tables + 1
    pairs = [i * count + j for i in range(count) for j in range(i)]
    chosen = g.op("Gather", g.op("Flatten", dots, axis=1), g.const(pairs), axis=1)
    x = g.op("Concat", bottom, chosen, axis=1)
    x = relu(g.linear(x, width + len(pairs), 512))
    return g.op("Sigmoid", g.linear(relu(g.linear(x, 512, 256)), 256, 1))


MAKERS = {
    "gpt2": make_gpt2,
    "minilm-1": lambda g: make_minilm(g, 1),
    "minilm-8": lambda g: make_minilm(g, 8),
    "resnet50": make_resnet50,
    "dlrm": make_dlrm,
    "products": make_products,
}

TRAINED = {"gpt2-small": make_gpt2_small, "vit-small": make_vit_small}


def make(name, folder):
    graph = Graph()
    return graph.save(folder, name, (MAKERS | TRAINED)[name](graph))
