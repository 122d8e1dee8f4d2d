#!/usr/bin/env python3
"""Latency beside ONNX Runtime's, on the same cores, in one run.

latency.py MODEL INPUT.npz [--bind NAME=SIZE]... [--rounds N] [--repeat N]

Compiles MODEL for one rank and for two (--tp 2), then takes turns, so that a
machine whose speed drifts is as unfair to each: Cleave on one thread, ONNX
Runtime on one thread, Cleave on two ranks of one thread. Prints the median of
the rounds' medians in milliseconds, and the ratios. Nothing is asserted.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAVE = os.path.join(ROOT, "build/bin/cleave")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]


def compile_model(model, out, *flags):
    subprocess.run([CLEAVE, "compile", model, "-o", out, *flags],
                   check=True, stderr=subprocess.DEVNULL)


def time_cleave(out, feeds, ranks, threads, repeat):
    """Median latency of a step in milliseconds; `feeds` is a .npz."""
    start = MPIRUN + [str(ranks), out + "/launch"] if ranks > 1 else [out + "/rank-0"]
    text = subprocess.run(
        start + ["--input", feeds, "--output", out + ".npz", "--threads", str(threads),
                 "--warmup", "3", "--repeat", str(repeat), "--json"],
        check=True, capture_output=True, text=True).stdout
    return json.loads(text.splitlines()[-1])["latency_ms"]["median"]


def make_session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def time_runtime(session, feeds, repeat):
    """Median latency of a run in milliseconds."""
    times = []
    for _ in range(repeat + 3):
        start = time.perf_counter()
        session.run(None, feeds)
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("input")
    parser.add_argument("--bind", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    feeds = dict(np.load(args.input))
    session = make_session(args.model, 1)
    binds = [part for bind in args.bind for part in ("--bind", bind)]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        one, two = folder + "/one", folder + "/two"
        compile_model(args.model, one, *binds)
        compile_model(args.model, two, "--tp", "2", *binds)
        for _ in range(args.rounds):
            rounds.append((time_cleave(one, args.input, 1, 1, args.repeat),
                           time_runtime(session, feeds, args.repeat),
                           time_cleave(two, args.input, 2, 1, args.repeat)))
    cleave, runtime, pair = (statistics.median(column) for column in zip(*rounds))
    print(f"Cleave, 1 rank, 1 thread     {cleave:8.2f} ms")
    print(f"ONNX Runtime, 1 thread       {runtime:8.2f} ms   {runtime / cleave:.2f} x Cleave's time")
    print(f"Cleave, --tp 2, 1 thread each{pair:8.2f} ms   {cleave / pair:.2f} x as fast as one rank")


if __name__ == "__main__":
    main()
