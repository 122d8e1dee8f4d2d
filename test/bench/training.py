#!/usr/bin/env python3
"""Step times of training beside PyTorch's, on the same cores, in one run.

training.py [NAME]... [--ways one dp tp pp] [--rounds N] [--steps N] [--torch PYTHON]

NAME is gpt2-small or vit-small of models.py; default: both. Each way has AdamW and one
thread a rank: one rank (against eager PyTorch and torch.compile), --dp 2 (against
DistributedDataParallel over gloo), --tp 2 (against DTensor) and --pp 2 with 4 micro-batches
in 1F1B (against torch.distributed.pipelining). Cleave and PyTorch take turns, so that a
machine whose speed drifts is as unfair to each. Prints medians of the rounds' medians in
milliseconds (the first three steps of each run are not counted), how many times longer
PyTorch takes, and the largest relative difference of the losses. Nothing is asserted.

PYTHON has torch, numpy and a C++ compiler for torch.compile:
  python3 -m venv build/torch-venv && build/torch-venv/bin/pip install torch numpy
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import latency
import models

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = {
    "one": ([], ["eager", "compile"]),
    "dp": (["--dp", "2"], ["dp"]),
    "tp": (["--tp", "2"], ["tp"]),
    "pp": (["--pp", "2", "--microbatches", "4", "--schedule", "1f1b"], ["pp"]),
}
WARMUP = 3


def run_cleave(out, feeds, ranks, args):
    """Milliseconds and loss of each step."""
    log = out + ".log"
    start = latency.MPIRUN + [str(ranks), out + "/launch"] if ranks > 1 else [out + "/rank-0"]
    subprocess.run(start + ["--input", feeds, "--threads", "1", "--steps", str(args.steps),
                            "--log", log], check=True, capture_output=True)
    with open(log, encoding="utf-8") as file:
        steps = [json.loads(line) for line in file]
    os.remove(log)
    return [step["ms"] for step in steps], [step["loss"] for step in steps]


def run_torch(name, folder, way, args):
    ranks = 1 if way in ("eager", "compile") else 2
    store = os.path.join(folder, "store")
    command = [args.torch, os.path.join(HERE, "training_torch.py"), name, folder, way,
               "--steps", str(args.steps), "--ranks", str(ranks), "--store", store, "--rank"]
    processes = [subprocess.Popen(command + [str(rank)], stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.DEVNULL) for rank in range(ranks)]
    texts = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"training_torch.py {name} {way} failed; run it alone to see why")
    if os.path.exists(store):
        os.remove(store)
    # The last stage of a pipeline has the losses.
    results = json.loads(texts[-1].splitlines()[-1])
    return results["ms"], results["losses"]


def bench(name, way, folder, model, feeds, args):
    """Ratios of PyTorch's time to Cleave's."""
    flags, rivals = WAYS[way]
    out = os.path.join(folder, f"{name}-{way}")
    latency.compile_model(model, out, "--train", "--loss", "cross_entropy", "--optimizer", "adamw",
                          "--lr", "1e-3", *flags)
    columns, losses = {}, {}
    for _ in range(args.rounds):
        for rival in ["", *rivals]:
            times, losses[rival] = (run_torch(name, folder, rival, args) if rival else
                                    run_cleave(out, feeds, 1 if way == "one" else 2, args))
            columns.setdefault(rival, []).append(statistics.median(times[WARMUP:]))
    times = {rival: statistics.median(column) for rival, column in columns.items()}
    text = f"{name:10} {way:3}: Cleave {times['']:8.2f} ms"
    for rival in rivals:
        text += f", PyTorch ({rival}) {times[rival]:8.2f} ms, {times[rival] / times['']:.2f} x"
    apart = max(abs(own - other) / abs(other) for own, other in zip(losses[""], losses[rivals[0]]))
    print(f"{text}; losses differ by {apart:.1e}", flush=True)
    return [times[rival] / times[""] for rival in rivals]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(models.TRAINED), metavar="NAME")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--torch", default=os.path.join(latency.ROOT, "build/torch-venv/bin/python"))
    args = parser.parse_args()
    if unknown := set(args.names) - set(models.TRAINED):
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(models.TRAINED)}")
    if subprocess.run([args.torch, "-c", "import torch, numpy"], stderr=subprocess.DEVNULL,
                      check=False).returncode if os.path.exists(args.torch) else True:
        parser.error(f"{args.torch} has no torch: see --torch in {os.path.basename(__file__)}")
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for name in args.names:
            model, feeds = models.make(name, folder)
            for way in args.ways:
                ratios += bench(name, way, folder, model, feeds, args)
    print(f"least {min(ratios):.2f} x")


if __name__ == "__main__":
    main()
