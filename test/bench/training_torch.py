#!/usr/bin/env python3
"""PyTorch's side of training.py: the networks gpt2-small and vit-small of models.py.

training_torch.py NAME FOLDER WAY [--steps N] [--microbatches M]
                  [--rank R --ranks N --store FILE]

WAY is eager, compile (torch.compile), dp (DistributedDataParallel over gloo), tp (DTensor:
heads and hidden dims split column-wise, then row-wise) or pp (torch.distributed.pipelining,
1F1B, half of the layers a rank). One thread a rank. Prints a line of JSON: milliseconds and
loss of every step.
"""

import argparse
import json
import os
import time

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F


class Weights:
    """The parameters of FOLDER/NAME.weights.npz, in the order in which models.py made them."""

    def __init__(self, path):
        arrays = np.load(path)
        self.arrays = iter([arrays[name] for name in arrays.files])

    def next(self):
        return nn.Parameter(torch.from_numpy(next(self.arrays)))

    def linear(self, bias=True):
        weight = self.next()
        layer = nn.Linear(*weight.shape, bias=bias)
        layer.weight = nn.Parameter(weight.data.T.contiguous())
        if bias:
            layer.bias = self.next()
        return layer

    def norm(self):
        weight = self.next()
        layer = nn.LayerNorm(weight.shape[0], eps=1e-5)
        layer.weight, layer.bias = weight, self.next()
        return layer


class Block(nn.Module):
    def __init__(self, weights, causal, gelu, head_size=64):
        super().__init__()
        self.causal, self.gelu, self.head_size = causal, gelu, head_size
        self.norm1 = weights.norm()
        self.q, self.k, self.v, self.out = (weights.linear() for _ in range(4))
        self.norm2 = weights.norm()
        self.up, self.down = weights.linear(), weights.linear()

    def split(self, x):
        return x.unflatten(-1, (-1, self.head_size)).transpose(1, 2)

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (self.split(layer(y)) for layer in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate=self.gelu))


class Tokens(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.table, self.positions = weights.next(), weights.next()

    def forward(self, ids):
        return F.embedding(ids, self.table) + self.positions


class Patches(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weight, self.bias = weights.next(), weights.next()
        self.start, self.positions = weights.next(), weights.next()

    def forward(self, image):
        x = F.conv2d(image, self.weight, self.bias, stride=self.weight.shape[-1])
        x = x.flatten(2).transpose(1, 2)
        return torch.cat([self.start.expand(len(x), 1, -1), x], 1) + self.positions


class First(nn.Module):
    """The class token."""

    def forward(self, x):
        return x[:, 0]


def make_model(name, weights, layers=4):
    if name == "gpt2-small":
        first = Tokens(weights)
        blocks = [Block(weights, True, "tanh") for _ in range(layers)]
        return nn.Sequential(first, *blocks, weights.norm(), weights.linear(bias=False))
    first = Patches(weights)
    blocks = [Block(weights, False, "none") for _ in range(layers)]
    return nn.Sequential(first, *blocks, weights.norm(), First(), weights.linear())


def find_loss(logits, labels):
    return F.cross_entropy(logits.flatten(0, -2), labels.flatten())


def split_tensors(model, ranks):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel,
                                                   parallelize_module)
    mesh = init_device_mesh("cpu", (ranks,))
    for block in model:
        if isinstance(block, Block):
            parallelize_module(block, mesh, {
                "q": ColwiseParallel(), "k": ColwiseParallel(), "v": ColwiseParallel(),
                "up": ColwiseParallel(), "out": RowwiseParallel(), "down": RowwiseParallel()})
    return model


def make_optimizer(parameters):
    """Whole tensors and DTensors apart, for the fused optimizer takes no mixture."""
    groups = {}
    for parameter in parameters:
        groups.setdefault(type(parameter.data), []).append(parameter)
    return torch.optim.AdamW([{"params": group} for group in groups.values()], lr=1e-3,
                             weight_decay=1e-2, fused=True)


def make_step(model, inputs, labels, args):
    """A function that does a step on this rank and returns the loss."""
    if args.way == "compile":
        model = torch.compile(model)
    if args.way == "tp":
        split_tensors(model, args.ranks)
    if args.way == "dp":
        model = nn.parallel.DistributedDataParallel(model)
        inputs, labels = inputs.chunk(args.ranks)[args.rank], labels.chunk(args.ranks)[args.rank]
    optimizer = make_optimizer(model.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = find_loss(model(inputs), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def make_pipeline_step(model, inputs, labels, args):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B
    half = 1 + 4 * (args.rank + 1) // args.ranks
    parts = model[:half] if args.rank == 0 else model[half - 4 // args.ranks:]
    stage = PipelineStage(parts, args.rank, args.ranks, torch.device("cpu"))
    schedule = Schedule1F1B(stage, args.microbatches, loss_fn=find_loss)
    optimizer = make_optimizer(parts.parameters())

    def step():
        optimizer.zero_grad(set_to_none=True)
        losses = []
        if args.rank == 0:
            schedule.step(inputs)
        else:
            schedule.step(target=labels, losses=losses)
        optimizer.step()
        return torch.stack(losses).mean().detach() if losses else torch.zeros(())

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("folder")
    parser.add_argument("way", choices=["eager", "compile", "dp", "tp", "pp"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--microbatches", type=int, default=4)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--store", default="")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.ranks > 1:
        dist.init_process_group("gloo", init_method="file://" + args.store, rank=args.rank,
                                world_size=args.ranks)
    path = os.path.join(args.folder, args.name)
    feeds = {key: torch.from_numpy(value) for key, value in np.load(path + ".npz").items()}
    labels = feeds.pop("labels")
    (inputs,) = feeds.values()
    model = make_model(args.name, Weights(path + ".weights.npz"))
    make = make_pipeline_step if args.way == "pp" else make_step
    step = make(model, inputs, labels, args)
    times, losses = [], []
    for _ in range(args.steps):
        if args.ranks > 1:
            dist.barrier()
        start = time.perf_counter()
        loss = step()
        times.append(1e3 * (time.perf_counter() - start))
        losses.append(loss)
    if args.way == "dp":
        for loss in losses:
            dist.all_reduce(loss)
        losses = [loss / args.ranks for loss in losses]
    print(json.dumps({"ms": times, "losses": [float(loss) for loss in losses]}), flush=True)
    if args.ranks > 1:
        dist.destroy_process_group()


main()
