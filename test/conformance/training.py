"""training.py MODELS WORK NAME... [--steps N] [--plans 'FLAGS;FLAGS'] [--pytorch]: the loss of each step of training,
on one rank against PyTorch (where it is installed; 20 steps, 1e-4 relative), and cut in other ways against one rank
(1e-5 relative), all in f32. A run that is repeated has to give the same bits, and one that goes on from a checkpoint of its
middle, on the same plan or another one, the same losses.

NAME is gpt2_loss, bert, vit or dlrm_gather: MODELS/NAME.ts.dynamic.onnx, with a batch of 16 in which ranks have unequal
numbers of labels that are ignored. Without --plans: tp2, tp3, pp2, pp3, dp2, dp4, tp2 x pp2, dp2 x tp2 and
dp2 x pp2 x tp2, with 1, 2 and 4 micro-batches, where there are stages in both orders.

PyTorch runs the nodes of the ONNX file that depend on a parameter; what does not, ONNX Runtime computes once. Where a loss
misses its limit, the same steps in f64 tell whether the problem is ill-conditioned: the error of Cleave and that of PyTorch
in f32, both against PyTorch in f64, are printed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

BATCH, LENGTH, COMPARED = 16, 12, 20
ADAMW = {"optimizer": "adamw", "lr": 1e-3, "clip": 1.0, "schedule": "cosine"}
ADAGRAD = {"optimizer": "adagrad", "lr": 1e-2, "clip": 0.0, "schedule": "constant"}


def draw_tokens(random, vocabulary):
    """Tokens, a mask that leaves out the ends of rows, and labels: many are ignored, in one row all."""
    tokens = random.integers(0, vocabulary, (BATCH, LENGTH))
    lengths = random.integers(LENGTH // 2, LENGTH + 1, BATCH)
    mask = (np.arange(LENGTH) < lengths[:, None]).astype(np.int64)
    labels = np.where(random.random((BATCH, LENGTH)) < np.linspace(0.1, 0.9, BATCH)[:, None], tokens, -100)
    labels[3] = -100
    return tokens, mask, labels


def make_gpt2(random):
    tokens, _, labels = draw_tokens(random, 503)
    return {"input_ids": tokens, "labels": labels}


def make_bert(random):
    tokens, mask, labels = draw_tokens(random, 1000)
    return {"input_ids": tokens, "attention_mask": mask, "labels": labels}


def make_vit(random):
    labels = random.integers(0, 10, BATCH)
    labels[[2, 3, 9]] = -100
    return {"pixel_values": random.standard_normal((BATCH, 3, 32, 32)).astype(np.float32), "labels": labels}


def make_dlrm(random):
    rows = np.stack([random.integers(0, n, (BATCH, 3)) for n in (1000, 733, 257, 64)], axis=1)
    return {"dense": random.standard_normal((BATCH, 13)).astype(np.float32), "idx": rows,
            "labels": random.integers(0, 2, (BATCH, 1)).astype(np.float32)}


# Inputs, flags of the loss, settings of the optimizer.
CASES = {
    "gpt2_loss": (make_gpt2, "", ADAMW),
    "bert": (make_bert, "cross_entropy", ADAMW),
    "vit": (make_vit, "cross_entropy", ADAMW),
    "dlrm_gather": (make_dlrm, "bce", ADAGRAD),
}


# Plans that write a checkpoint, and plans that go on from it.
RESUMED = [("", ""), ("--tp 2", "--dp 2"), ("--pp 2", ""), ("--dp 2 --tp 2", "--pp 2 --microbatches 2")]


def list_plans():
    plans = []
    for cut in ["--tp 2", "--tp 3", "--pp 2", "--pp 3", "--dp 2", "--dp 4", "--tp 2 --pp 2", "--dp 2 --tp 2", "--dp 2 --pp 2 --tp 2"]:
        plans.append(cut)
        for parts in (2, 4):
            for order in ("gpipe", "1f1b") if "--pp" in cut else ("1f1b",):
                plans.append(f"{cut} --microbatches {parts} --schedule {order}")
    return plans


#===-- Cleave --------------------------------------------------------------===#


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout[-4000:]}")


class Training:
    """One model on one batch."""

    def __init__(self, models, work, name, steps):
        self.work, self.name, self.steps = os.path.join(work, name), name, steps
        make, self.loss, self.settings = CASES[name]
        os.makedirs(self.work, exist_ok=True)
        self.file = os.path.join(models, f"{name}.ts.dynamic.onnx")
        self.model = onnx.load(self.file)
        self.fed = make(np.random.default_rng(0))
        self.inputs = os.path.join(self.work, "in.npz")
        np.savez(self.inputs, **self.fed)

    def bindings(self):
        """A size for each open dim of the inputs."""
        for value in self.model.graph.input:
            for dim, size in zip(value.type.tensor_type.shape.dim, self.fed[value.name].shape):
                if dim.dim_param:
                    yield from ("--bind", f"{dim.dim_param}={size}")

    def compile(self, plan):
        out = os.path.join(self.work, "out")
        loss = ["--loss", self.loss] if self.loss else ["--loss-output", self.model.graph.output[0].name]
        clip = ["--clip", str(self.settings["clip"])] if self.settings["clip"] else []
        call("cleave", "compile", self.file, "-o", out, "--train", *loss, "--optimizer", self.settings["optimizer"],
             "--lr", str(self.settings["lr"]), *clip, *self.bindings(), *plan.split())
        return out

    def run(self, out, *flags):
        log = os.path.join(self.work, "log.jsonl")
        call("cleave", "run", out, "--loopback", "--threads", "1", "--input", self.inputs, "--steps", str(self.steps), "--log", log,
             "--lr-schedule", self.settings["schedule"], *flags)
        with open(log) as lines:
            entries = [json.loads(line) for line in lines]
        loss = "loss" if self.loss else self.model.graph.output[0].name
        return np.array([entry[loss] for entry in entries])

    def train(self, plan):
        return self.run(self.compile(plan))

    def resume(self, first, second):
        """Losses of the second half of the steps, from a checkpoint that another plan has written."""
        folder, half = os.path.join(self.work, "checkpoints"), self.steps // 2
        shutil.rmtree(folder, ignore_errors=True)
        self.run(self.compile(first), "--checkpoint", folder, "--checkpoint-every", str(half))
        for name in os.listdir(folder):
            if name != f"step-{half:08}":
                shutil.rmtree(os.path.join(folder, name))
        return self.run(self.compile(second), "--checkpoint", folder, "--resume")


#===-- PyTorch -------------------------------------------------------------===#


class TorchModel:
    """The part of a model that depends on its parameters, as PyTorch computes it."""

    def __init__(self, training, dtype):
        import torch
        self.torch, self.dtype, self.training = torch, dtype, training
        graph = training.model.graph
        self.parameters = {t.name: self.to_tensor(numpy_helper.to_array(t)).requires_grad_() for t in graph.initializer
                           if t.data_type == onnx.TensorProto.FLOAT and t.dims}
        known = set(self.parameters)
        self.nodes = []
        for node in graph.node:
            if node.op_type != "Shape" and known & set(node.input):
                self.nodes.append(node)
                known.update(node.output)
        self.values = self.compute_rest(known)

    def to_tensor(self, value):
        tensor = self.torch.tensor(value)
        return tensor.to(self.dtype) if tensor.is_floating_point() else tensor

    def compute_rest(self, known):
        """Everything that the nodes read and no parameter decides."""
        import onnxruntime
        model = onnx.ModelProto()
        model.CopyFrom(self.training.model)
        wanted = {name for node in self.nodes for name in node.input if name and name not in known}
        fed = {value.name for value in model.graph.input}
        values = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        values.update(self.training.fed)
        missing = sorted(wanted - set(values))
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in missing)
        if missing:
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            values.update(zip(missing, session.run(missing, {n: self.training.fed[n] for n in fed})))
        return {name: self.to_tensor(values[name]) for name in wanted}

    def loss(self):
        torch, values = self.torch, {**self.values, **self.parameters}
        for node in self.nodes:
            attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            results = OPERATORS[node.op_type](torch, attributes, *[values[n] if n else None for n in node.input])
            values.update(zip(node.output, results if isinstance(results, (list, tuple)) else [results]))
        result = values[self.training.model.graph.output[0].name]
        if not self.training.loss:
            return result
        labels = self.to_tensor(self.training.fed["labels"])
        if self.training.loss == "bce":
            return torch.nn.functional.binary_cross_entropy(result, labels)
        return torch.nn.functional.cross_entropy(result.flatten(0, -2), labels.flatten())

    def train(self, steps, of):
        """Losses of the first `steps` of a run of `of` steps."""
        torch, settings, losses = self.torch, self.training.settings, []
        parameters = list(self.parameters.values())
        make = {"adamw": torch.optim.AdamW, "adagrad": torch.optim.Adagrad}[settings["optimizer"]]
        optimizer = make(parameters, lr=settings["lr"])
        for step in range(steps):
            optimizer.zero_grad()
            loss = self.loss()
            losses.append(loss.item())
            loss.backward()
            if settings["clip"]:
                torch.nn.utils.clip_grad_norm_([p for p in parameters if p.grad is not None], settings["clip"])
            if settings["schedule"] == "cosine":
                optimizer.param_groups[0]["lr"] = settings["lr"] * 0.5 * (1 + np.cos(np.pi * step / of))
            optimizer.step()
        return np.array(losses)


def reshape(torch, a, x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape.tolist())])


def gather(torch, a, x, indices):
    axis = a.get("axis", 0) % x.dim()
    indices = torch.where(indices < 0, indices + x.shape[axis], indices)
    picked = torch.index_select(x, axis, indices.flatten())
    return picked.reshape(x.shape[:axis] + indices.shape + x.shape[axis + 1:])


def gemm(torch, a, x, y, bias=None):
    x, y = x.T if a.get("transA") else x, y.T if a.get("transB") else y
    result = a.get("alpha", 1.0) * (x @ y)
    return result if bias is None else result + a.get("beta", 1.0) * bias


def take_slice(torch, a, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    for axis, start, end in zip(axes, starts.tolist(), ends.tolist()):
        x = x.narrow(axis, *(lambda s: (s.start, len(range(x.shape[axis])[s])))(slice(*slice(start, end).indices(x.shape[axis]))))
    return x


def split(torch, a, x, sizes=None):
    axis = a.get("axis", 0)
    return list(torch.split(x, sizes.tolist() if sizes is not None else x.shape[axis] // a["num_outputs"], axis))


def norm(torch, a, x, scale, bias=None):
    shape = x.shape[a.get("axis", -1) % x.dim():]
    return torch.nn.functional.layer_norm(x, shape, scale, bias, a.get("epsilon", 1e-5))


def unsqueeze(torch, a, x, axes):
    for axis in sorted(axes.tolist()):
        x = x.unsqueeze(axis)
    return x


def cross_entropy(torch, a, logits, labels):
    return torch.nn.functional.cross_entropy(logits, labels, ignore_index=a.get("ignore_index", -100))


OPERATORS = {
    "Add": lambda t, a, x, y: x + y, "Sub": lambda t, a, x, y: x - y, "Mul": lambda t, a, x, y: x * y,
    "Div": lambda t, a, x, y: x / y, "Pow": lambda t, a, x, y: x**y, "MatMul": lambda t, a, x, y: x @ y,
    "Tanh": lambda t, a, x: t.tanh(x), "Erf": lambda t, a, x: t.erf(x), "Relu": lambda t, a, x: t.relu(x),
    "Sigmoid": lambda t, a, x: t.sigmoid(x), "Sqrt": lambda t, a, x: t.sqrt(x),
    "Softmax": lambda t, a, x: t.softmax(x, a.get("axis", -1)), "LayerNormalization": norm, "Gemm": gemm,
    "Conv": lambda t, a, x, w, b=None: t.nn.functional.conv2d(x, w, b, a["strides"]),
    "Gather": gather, "Reshape": reshape, "Unsqueeze": unsqueeze, "Slice": take_slice, "Split": split,
    "Transpose": lambda t, a, x: x.permute(a["perm"]), "Concat": lambda t, a, *x: t.cat(x, a["axis"]),
    "Expand": lambda t, a, x, shape: x.expand(t.broadcast_shapes(x.shape, tuple(shape.tolist()))),
    "Flatten": lambda t, a, x: x.reshape(int(np.prod(x.shape[:a.get("axis", 1)])), -1), "Cast": lambda t, a, x: x,
    "Where": lambda t, a, c, x, y: t.where(c, x, y),
    "ReduceSum": lambda t, a, x, axes: x.sum(axes.tolist(), keepdim=bool(a.get("keepdims", 1))),
    "SoftmaxCrossEntropyLoss": cross_entropy,
}


#===-- Comparison ----------------------------------------------------------===#


def compare(what, found, expected, limit):
    """Whether the losses agree; prints how well, and where the worst is."""
    errors = np.abs(found - expected) / np.abs(expected)
    worst = int(np.argmax(errors))
    isGood = bool(errors.max() < limit)
    print(f"{what}: {errors.max():.1e} at step {worst + 1} of {len(errors)}{'' if isGood else f': TOO FAR, {limit:g} is allowed'}", flush=True)
    return isGood


def compare_pytorch(training, losses):
    import torch
    torch.set_num_threads(1)
    steps = min(COMPARED, training.steps)
    expected = TorchModel(training, torch.float32).train(steps, training.steps)
    if compare(f"{training.name}: one rank against PyTorch", losses[:steps], expected, 1e-4):
        return True
    exact = TorchModel(training, torch.float64).train(steps, training.steps)
    compare(f"{training.name}: one rank against PyTorch in f64", losses[:steps], exact, 1e-4)
    compare(f"{training.name}: PyTorch in f32 against PyTorch in f64", expected, exact, 1e-4)
    return False


def check(training, plans, resumed, against_pytorch):
    out = training.compile("")
    losses = training.run(out)
    print(f"{training.name}: losses {losses[0]:.6f} to {losses[-1]:.6f} in {len(losses)} steps", flush=True)
    isGood = True
    if not np.array_equal(training.run(out), losses):
        print(f"{training.name}: a second run gives other bits")
        isGood = False
    if against_pytorch:
        isGood &= compare_pytorch(training, losses)
    for plan in plans:
        found = training.train(plan)
        isGood &= compare(f"{training.name} {plan}", found, losses, 1e-5)
    if plans and not np.array_equal(training.run(os.path.join(training.work, "out")), found):
        print(f"{training.name} {plans[-1]}: a second run gives other bits")
        isGood = False
    for first, second in resumed:
        found, rest = training.resume(first, second), losses[training.steps // 2:]
        isGood &= compare(f"{training.name} '{first}', gone on with as '{second}'", found, rest, 1e-5)
        if first == second and not np.array_equal(found, rest):
            print(f"{training.name} '{first}': going on gives other bits")
            isGood = False
    return isGood


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models")
    parser.add_argument("work")
    parser.add_argument("names", nargs="+", choices=CASES)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--plans")
    parser.add_argument("--pytorch", action="store_true")
    flags = parser.parse_args()
    plans = list_plans() if flags.plans is None else [p.strip() for p in flags.plans.split(";") if p.strip()]
    resumed = RESUMED if flags.plans is None else []
    good = [check(Training(flags.models, flags.work, name, flags.steps), plans, resumed, flags.pytorch) for name in flags.names]
    sys.exit(not all(good))


main()
