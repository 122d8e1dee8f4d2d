#!/usr/bin/env python3
"""Latency of several models beside ONNX Runtime's, on the same cores, in one run.

inference.py [NAME]... [--threads 1 2] [--rounds N] [--repeat N]

NAME is one of models.py, or vit_s, the model of the demo; default: all. For each
number of threads Cleave (one rank) and ONNX Runtime take turns, so that a machine whose
speed drifts is as unfair to each. Prints medians of the rounds' medians in milliseconds,
ratios, their geometric mean, the largest difference of the outputs by their largest
value, and the share of the cores' peak: FLOPs of the model's products by time, against
the same of products alone, which take their turn too. Nothing is asserted.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile

import numpy as np

import latency
import models


def make_vit(folder):
    model = os.path.join(latency.ROOT, ".deps/models/vit_s_focus.onnx")
    session = latency.make_session(model, 1)
    info = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else 1 for size in info.shape]
    path = os.path.join(folder, "vit_s.npz")
    np.savez(path, **{info.name: np.random.default_rng(0).random(shape, np.float32)})
    return model, path


def prepare(name, folder):
    """Model, inputs, and the flags of `cleave compile`."""
    if name == "vit_s":
        return *make_vit(folder), ["--bind", "batch_size=1"]
    return *models.make(name, folder), []


def difference(out, expected):
    found = np.load(out + ".npz")
    return max(np.abs(found[key] - value).max() / max(np.abs(value).max(), 1e-30)
               for key, value in expected.items())


def build(name, folder):
    """OUT, its FLOPs, the model and its inputs."""
    model, inputs, flags = prepare(name, folder)
    out = os.path.join(folder, name + ".out")
    latency.compile_model(model, out, *flags)
    facts = json.loads(subprocess.run([latency.CLEAVE, "inspect", out, "--json"], check=True,
                                      capture_output=True, text=True).stdout)
    return out, sum(program["flops"] for program in facts["programs"]), model, inputs


def bench(name, folder, args):
    """Ratios of ONNX Runtime's time to Cleave's, one for each number of threads."""
    out, flops, model, inputs = build(name, folder)
    peak_out, peak_flops, _, peak_inputs = build("products", folder)
    feeds = dict(np.load(inputs))
    ratios = []
    for threads in args.threads:
        session = latency.make_session(model, threads)
        names = [output.name for output in session.get_outputs()]
        expected = dict(zip(names, session.run(None, feeds)))
        rounds = [(latency.time_cleave(out, inputs, 1, threads, args.repeat),
                   latency.time_runtime(session, feeds, args.repeat),
                   latency.time_cleave(peak_out, peak_inputs, 1, threads, args.repeat))
                  for _ in range(args.rounds)]
        cleave, runtime, peak = (statistics.median(column) for column in zip(*rounds))
        ratios.append(runtime / cleave)
        rate, peak_rate = 1e-6 * flops / cleave, 1e-6 * peak_flops / peak
        print(f"{name:10} {threads} threads: Cleave {cleave:8.2f} ms, ONNX Runtime {runtime:8.2f} ms,"
              f" {ratios[-1]:.2f} x; {100 * rate / peak_rate:.0f} % of {peak_rate:.0f} GFLOP/s;"
              f" difference {difference(out, expected):.1e}", flush=True)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ["vit_s", *(name for name in models.MAKERS if name != "products")]
    parser.add_argument("names", nargs="*", default=known, metavar="NAME")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=10)
    args = parser.parse_args()
    if unknown := set(args.names) - set(known):
        parser.error(f"no model {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    ratios = []
    for name in args.names:
        with tempfile.TemporaryDirectory() as folder:
            ratios += bench(name, folder, args)
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    print(f"geometric mean {mean:.2f} x, least {min(ratios):.2f} x")


if __name__ == "__main__":
    main()
