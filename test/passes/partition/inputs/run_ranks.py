"""run_ranks.py FILE.mlir - check rank programs against the whole program.

Each program of FILE (they are split at `// -----`) is partitioned by cleave-opt. Then
the whole program and the rank programs are evaluated with numpy, op by op: all ranks
of all stages run at once in this process. Inputs and params are small whole numbers
that depend on their names only, cut and padded with zeros as their shardings say.
Every rank must give the results of the whole program, and store its shard of the
same states.

Prints "N ranks agree: OUTPUT, ..." for each program, or what differs.
"""

import functools
import itertools
import math
import re
import subprocess
import sys
import zlib

import numpy as np

DTYPES = {"f32": np.float64, "f64": np.float64, "i64": np.int64, "i32": np.int32, "i1": np.bool_}


# --- Text to ops --------------------------------------------------------------


class Op:
    def __init__(self, line):
        head = re.match(r'\s*(?:(%[\w:]+) = )?"([\w.]+)"\(([^)]*)\)', line)
        self.result, self.name, operands = head.groups()
        self.operands = re.findall(r"%\w+", operands)
        self.text = line
        kind = re.search(r"#cleave<\w+_kind (\w+)>", line)
        self.kind = kind[1] if kind else None
        types = line[line.rindex(" : (") :] if " : (" in line else ""
        self.types = [parse_type(t) for t in re.findall(r"tensor<([^>]*)>", types.split("->")[-1])]

    def ints(self, name):
        found = re.search(rf"\b{name} = array<i64(?:: ([^>]*))?>", self.text)
        return [int(n) for n in found[1].split(",")] if found and found[1] else []

    def int(self, name):
        return int(re.search(rf"\b{name} = (-?\d+) : i64", self.text)[1])

    def float(self, name):
        value = re.search(rf"\b{name} = ([^\s,}}]+) : f64", self.text)[1]
        return float(np.uint64(int(value, 16)).view(np.float64)) if value.startswith("0x") else float(value)

    def string(self, name):
        return re.search(rf'\b{name} = "([^"]*)"', self.text)[1]

    def strings(self, name):
        return re.findall(r'"([^"]*)"', re.search(rf"\b{name} = \[([^\]]*)\]", self.text)[1])

    def symbol(self, name):
        return re.search(rf'\b{name} = @("[^"]*"|[\w.]+)', self.text)[1].strip('"')

    def has(self, name):
        return re.search(rf"\b{name}\b", self.text) is not None


def bracket(text, name):
    """The text of `name = [...]`, to the bracket that closes it."""
    start = text.find(name + " = [")
    depth = 0
    for end in range(text.find("[", start), len(text) if start >= 0 else 0):
        depth += {"[": 1, "]": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return ""


def parse_type(text):
    parts = text.split("x")
    return tuple(int(n) for n in parts[:-1]), DTYPES[parts[-1]]


class Sharding:
    def __init__(self, text):
        self.mesh = re.match(r"<@(\w+)", text)[1]
        dims = re.match(r"<@\w+, \[(.*?)\]", text)[1]
        self.dims = [
            (re.findall(r'"([^"]*)"', axes), int(block or 1))
            for axes, block in re.findall(r"\{([^}]*)\}(?::(\d+))?", dims)
        ]


def find_shardings(text):
    return [Sharding(t) for t in re.findall(r"#cleave\.sharding(<@\w+, \[.*?\](?:, partial<.*?>)?>)", text)]


class Mesh:
    """A place is a rank and a micro-batch: the axis "mb" is in time, here it is all at once."""

    def __init__(self, text):
        shape = re.search(r"mesh_shape<\[(.*?)\], ranks = \[(.*?)\](?:, micro_batches = (\d+))?>", text)
        self.sizes = {name: int(size) for name, size in re.findall(r'"(\w+)"=(\d+)', shape[1])}
        self.ranks = [int(r) for r in shape[2].split(",")]
        self.sizes["mb"] = int(shape[3] or 1)
        self.places = list(itertools.product(self.ranks, range(self.sizes["mb"])))

    def coords(self, place):
        position, coords = self.ranks.index(place[0]), {"mb": place[1]}
        for name in reversed([name for name in self.sizes if name != "mb"]):
            coords[name] = position % self.sizes[name]
            position //= self.sizes[name]
        return coords

    def index(self, place, axes):
        coords, index = self.coords(place), 0
        for axis in axes:
            index = index * self.sizes[axis] + coords[axis]
        return index

    def parts(self, axes):
        return math.prod(self.sizes[axis] for axis in axes)

    def group(self, place, axes):
        """The places that differ from `place` along `axes` only, in their order."""
        outside = lambda p: {a: c for a, c in self.coords(p).items() if a not in axes}
        peers = [p for p in self.places if outside(p) == outside(place)]
        return sorted(peers, key=lambda p: self.index(p, axes))


class Function:
    def __init__(self, head):
        self.name = re.search(r'sym_name = "(\w+)"', head)[1]
        find_names = lambda text: re.findall(r'cleave\.name = "([^"]*)"', text)
        self.inputs = find_names(bracket(head, "arg_attrs"))
        self.outputs = find_names(bracket(head, "res_attrs"))
        self.shardings = find_shardings(bracket(head, "arg_attrs"))
        self.mesh = None  # an attribute that stands behind the body
        self.arguments, self.types, self.ops = [], [], []


class Program:
    def __init__(self, text):
        self.meshes, self.params, self.functions = {}, {}, []
        for line in text.splitlines():
            if '"cleave.mesh"' in line:
                self.meshes[re.search(r'sym_name = "(\w+)"', line)[1]] = Mesh(line)
            elif '"cleave.param"' in line:
                self.params[re.search(r'sym_name = "([^"]+)"', line)[1]] = line
            elif '"func.func"' in line:
                self.functions.append(Function(line))
            elif re.match(r"\s*\^bb0", line):
                for name, type in re.findall(r"(%\w+): tensor<([^>]*)>", line):
                    self.functions[-1].arguments.append(name)
                    self.functions[-1].types.append(parse_type(type))
            elif closing := re.match(r"\s*\}\).*cleave\.mesh = @(\w+)", line):
                self.functions[-1].mesh = closing[1]
            elif re.match(r'\s*(%[\w:]+ = )?"(cleave|func)\.', line):
                self.functions[-1].ops.append(Op(line))


# --- Values -------------------------------------------------------------------


def make(name, shape, dtype):
    """Whole numbers from -2 to 3 that depend on the name only; 0 to 3 for integers."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return random.integers(0 if np.issubdtype(dtype, np.integer) else -2, 4, shape).astype(dtype)


def cut(rank, whole, sharding, mesh):
    for dim, (axes, block) in enumerate(sharding.dims):
        parts = mesh.parts(axes)
        chunk = -(-(whole.shape[dim] // block) // parts) * block
        whole = take(whole, dim, chunk, mesh.index(rank, axes))
    return whole


def take(x, dim, chunk, index):
    start = min(index * chunk, x.shape[dim])
    piece = np.take(x, range(start, min(start + chunk, x.shape[dim])), axis=dim)
    widths = [(0, 0)] * x.ndim
    widths[dim] = (0, chunk - piece.shape[dim])
    return np.pad(piece, widths)


# --- Ops ----------------------------------------------------------------------

erf = np.vectorize(math.erf, otypes=[np.float64])
UNARY = {
    "neg": np.negative, "abs": np.abs, "exp": np.exp, "log": np.log, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "reciprocal": lambda x: 1 / x, "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0), "erf": erf,
    "sin": np.sin, "cos": np.cos,
    "gelu_erf": lambda x: x / 2 * (1 + erf(x / math.sqrt(2))), "not": np.logical_not,
}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
    "pow": np.power, "and": np.logical_and, "or": np.logical_or, "mod": np.fmod,
    "div": lambda x, y: x // y if np.issubdtype(x.dtype, np.integer) else x / y,
}
REDUCE = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
           "gt": np.greater, "ge": np.greater_equal}


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def dot(op, x, y):
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    lhs, rhs = [None] * x.ndim, [None] * y.ndim
    batch = []
    for left, right in zip(op.ints("lhs_batch"), op.ints("rhs_batch")):
        lhs[left] = rhs[right] = next(letters)
        batch.append(lhs[left])
    for left, right in zip(op.ints("lhs_contract"), op.ints("rhs_contract")):
        lhs[left] = rhs[right] = next(letters)
    free = []
    for side in (lhs, rhs):
        for dim, letter in enumerate(side):
            if letter is None:
                side[dim] = next(letters)
                free.append(side[dim])
    return np.einsum(f"{''.join(lhs)},{''.join(rhs)}->{''.join(batch + free)}", x, y)


def broadcast(op, x):
    shape, dims = op.types[0][0], op.ints("dims")
    spread = [1] * len(shape)
    for size, dim in zip(x.shape, dims):
        spread[dim] = size
    return np.broadcast_to(x.reshape(spread), shape)


def constant(op):
    shape, dtype = op.types[0]
    text = re.search(r"dense<(.*?)> : tensor", op.text)[1]
    if text.startswith('"0x'):
        stored = {np.float64: np.float32}.get(dtype, dtype)
        return np.frombuffer(bytes.fromhex(text[3:-1]), stored).reshape(shape).astype(dtype)
    words = re.findall(r"[^\s,\[\]]+", text)
    values = np.array([word == "true" if word in ("true", "false") else float(word) for word in words])
    return (np.full(shape, values[0]) if len(values) == 1 else values.reshape(shape)).astype(dtype)


def conv(op, x, weight):
    if op.has("transposed") or op.has("groups = ") and op.int("groups") != 1:
        raise SystemExit(f"this convolution is not evaluated: {op.text.strip()}")
    spatial = x.ndim - 2
    pads = op.ints("pads")
    x = np.pad(x, [(0, 0), (0, 0), *zip(pads[:spatial], pads[spatial:])])
    dims = tuple(range(2, x.ndim))
    spans = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], op.ints("dilations"))]
    windows = np.lib.stride_tricks.sliding_window_view(x, spans, axis=dims)
    steps = [slice(None, None, s) for s in op.ints("strides")]
    taps = [slice(None, None, d) for d in op.ints("dilations")]
    windows = windows[(slice(None), slice(None), *steps, *taps)]
    return np.moveaxis(np.tensordot(windows, weight, ([1, *range(2 + spatial, 2 + 2 * spatial)], [1, *dims])), -1, 1)


def norm(op, x, *rest):
    dims = tuple(range(op.int("axis"), x.ndim))
    if op.kind == "layer":
        x = x - x.mean(axis=dims, keepdims=True)
    y = x / np.sqrt((x * x).mean(axis=dims, keepdims=True) + op.float("epsilon"))
    if rest:
        y = y * rest[0]
    return y + rest[1] if len(rest) > 1 else y


def attention(op, q, k, v, *mask):
    repeat = q.shape[1] // k.shape[1] if k.shape[1] else 1
    k, v = np.repeat(k, repeat, axis=1), np.repeat(v, repeat, axis=1)
    scores = op.float("scale") * np.einsum("bhsd,bhtd->bhst", q, k)
    if op.has("causal"):
        scores = np.where(np.tri(*scores.shape[2:], scores.shape[3] - scores.shape[2]), scores, -np.inf)
    return np.einsum("bhst,bhte->bhse", softmax(scores + (mask[0] if mask else 0), -1), v)


def cross_entropy(op, logits, labels):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    picked = np.take_along_axis(shifted, labels[..., None], -1)[..., 0]
    return np.log(np.exp(shifted).sum(-1)) - picked


def cross_entropy_grad(op, logits, labels, dloss):
    onehot = np.arange(logits.shape[-1]) == labels[..., None]
    return (softmax(logits, -1) - onehot) * dloss[..., None]


def gather(op, x, indices):
    if indices.size and (indices.min() < -x.shape[op.int("dim")] or indices.max() >= x.shape[op.int("dim")]):
        raise SystemExit(f"index out of range in: {op.text.strip()}")
    return np.take(x, indices, axis=op.int("dim"))


def mask(op, x, index):
    dim, chunk = op.int("dim"), x.shape[op.int("dim")]
    valid = index * chunk + np.arange(chunk) < op.int("size")
    return np.where(valid.reshape([-1] + [1] * (x.ndim - dim - 1)), x, np.array(op.float("fill")).astype(x.dtype))


def divide_check(op, x, y):
    if op.kind in ("div", "mod") and np.issubdtype(x.dtype, np.integer) and (y == 0).any():
        raise SystemExit(f"integer division by zero in: {op.text.strip()}")
    return BINARY[op.kind](x, y)


PURE = {
    "unary": lambda op, x: UNARY[op.kind](x),
    "binary": divide_check,
    "compare": lambda op, x, y: COMPARE[op.kind](x, y),
    "select": lambda op, c, x, y: np.where(c, x, y),
    "cast": lambda op, x: x.astype(op.types[0][1]),
    "constant": constant,
    "dot": dot,
    "conv": conv,
    "reduce": lambda op, x: REDUCE[op.kind].reduce(x, axis=tuple(op.ints("dims"))),
    "reshape": lambda op, x: x.reshape(op.types[0][0]),
    "transpose": lambda op, x: x.transpose(op.ints("perm")),
    "broadcast": broadcast,
    "slice": lambda op, x: x[tuple(
        slice(a, a + (n - 1) * s + 1 if n else a, s)
        for a, n, s in zip(op.ints("starts"), op.ints("sizes"), op.ints("strides")))],
    "pad": lambda op, x: np.pad(x, list(zip(op.ints("low"), op.ints("high"))), constant_values=op.float("value")),
    "concat": lambda op, *xs: np.concatenate(xs, axis=op.int("dim")),
    "gather": gather,
    "iota": lambda op: np.broadcast_to(
        np.arange(op.types[0][0][op.int("dim")]).reshape([-1] + [1] * (len(op.types[0][0]) - op.int("dim") - 1)),
        op.types[0][0]).astype(op.types[0][1]),
    "softmax": lambda op, x: softmax(x, op.int("dim")),
    "norm": norm,
    "attention": attention,
    "cross_entropy": cross_entropy,
    "cross_entropy_grad": cross_entropy_grad,
    "reshard": lambda op, x: x,
    "take_shard": lambda op, x, i: take(x, op.int("dim"), op.types[0][0][op.int("dim")], int(i)),
    "mask": mask,
}


def collective(op, mesh, rank, values):
    """`values`: the operand of each rank."""
    axes = op.strings("axes")
    group = mesh.group(rank, axes)
    parts = [values[r] for r in group]
    if op.name == "cleave.all_gather":
        return np.concatenate(parts, axis=op.int("dim"))
    if op.name == "cleave.all_to_all":
        return np.stack([part[group.index(rank)] for part in parts])
    whole = REDUCE[op.kind].reduce(np.stack(parts), axis=0)
    if op.name == "cleave.all_reduce":
        return whole
    return take(whole, op.int("dim"), whole.shape[op.int("dim")] // len(group), group.index(rank))


# --- Programs -----------------------------------------------------------------


def run_whole(program):
    main = program.functions[0]
    values = {a: make(n, *t) for a, n, t in zip(main.arguments, main.inputs, main.types)}
    stored = {}
    for op in main.ops:
        operands = [values[o] for o in op.operands]
        if op.name == "func.return":
            return dict(zip(main.outputs, operands)) | stored
        name = op.name.split(".")[1]
        if name == "load":
            values[op.result] = make(op.symbol("symbol"), *op.types[0])
        elif name == "store":
            stored["@" + op.symbol("symbol")] = operands[0]
        else:
            values[op.result] = PURE[name](op, *operands)


def run_stage(program, function, messages, whole_types, results):
    """A generator: it waits where a message is not there yet."""
    mesh = program.meshes[function.mesh]
    ranks = mesh.places
    values = {}
    for argument, name, sharding in zip(function.arguments, function.inputs, function.shardings):
        whole = make(name, *whole_types[name])
        values[argument] = {r: cut(r, whole, sharding, mesh) for r in ranks}
    for op in function.ops:
        name = op.name.split(".")[1]
        operands = [values[o] for o in op.operands]
        if name == "return":
            for output, value in zip(function.outputs, operands):
                results[output] = value, lambda place, whole: whole
        elif name == "load":
            line = program.params[op.symbol("symbol")]
            true_name = re.search(r'cleave\.name = "([^"]*)"', line)
            type = parse_type(re.search(r"\btype = tensor<([^>]*)>", line)[1])
            whole = make(true_name[1] if true_name else op.symbol("symbol"), *type)
            values[op.result] = {r: cut(r, whole, find_shardings(line)[0], mesh) for r in ranks}
        elif name == "axis_index":
            values[op.result] = {r: np.array(mesh.index(r, op.strings("axes"))) for r in ranks}
        elif name in ("send", "recv"):
            pairs = op.ints("pairs")
            batches = range(mesh.sizes["mb"])
            keys = [(a, b, m, op.int("tag")) for a, b in zip(pairs[::2], pairs[1::2]) for m in batches]
            if name == "send":
                messages.update({key: operands[0][key[0], key[2]] for key in keys})
                continue
            while not all(key in messages for key in keys):
                yield
            values[op.result] = {(key[1], key[2]): messages[key] for key in keys}
        elif name in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            values[op.result] = {r: collective(op, mesh, r, operands[0]) for r in ranks}
        elif name == "store":
            sharding = find_shardings(program.params[op.symbol("symbol")])[0]
            results["@" + op.symbol("symbol")] = operands[0], functools.partial(cut, mesh=mesh, sharding=sharding)
        else:
            values[op.result] = {r: PURE[name](op, *[o[r] for o in operands]) for r in ranks}
        if op.result:
            for rank, value in values[op.result].items():
                if value.shape != op.types[0][0]:
                    raise SystemExit(f"rank {rank}: found shape {value.shape} in: {op.text.strip()}")


def run_ranks(program, whole_types):
    messages, results = {}, {}
    waiting = [run_stage(program, f, messages, whole_types, results) for f in program.functions]
    while waiting:
        known = len(messages), len(waiting)
        waiting = [stage for stage in waiting if next(stage, "done") is None]
        if known == (len(messages), len(waiting)):
            raise SystemExit("all stages wait")
    return results


PASSES = """
    --cleave-propagate-shardings --cleave-verify-shardings
    --cleave-insert-reshards --cleave-verify-shardings=resharded=true
    --cleave-cut-stages --cleave-localize --cleave-optimize-collectives
    --cleave-verify-local --cleave-verify-collectives
""".split()


def read(text, *passes):
    command = ["cleave-opt", "--mlir-print-op-generic", *passes]
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"cleave-opt failed on\n{text}")
    return Program(done.stdout)


def check(text):
    whole, local = read(text), read(text, *PASSES)
    main = whole.functions[0]
    expected = run_whole(whole)
    found = run_ranks(local, dict(zip(main.inputs, main.types)))
    if sorted(found) != sorted(expected):
        raise SystemExit(f"found outputs {sorted(found)}, expected {sorted(expected)}")
    for name, whole_value in expected.items():
        results, cut_like = found[name]
        for place, result in results.items():
            value = cut_like(place, whole_value)
            valid = cut_like(place, np.ones(whole_value.shape, bool))  # padding is no result
            same = result.shape == value.shape and np.allclose(
                np.where(valid, result, 0), np.where(valid, value, 0), rtol=1e-12, atol=1e-12, equal_nan=True)
            if not same:
                raise SystemExit(f"rank {place[0]}, {name}: found\n{result}\nexpected\n{value}\nin{text}")
    ranks = sum(len(mesh.ranks) for mesh in local.meshes.values())
    print(f"{ranks} ranks agree: {', '.join(sorted(expected))}")


np.seterr(all="ignore")
if __name__ == "__main__":
    for text in open(sys.argv[1]).read().split("// -----"):
        check(text)
