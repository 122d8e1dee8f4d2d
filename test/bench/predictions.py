#!/usr/bin/env python3
"""Predicted times of plans beside measured ones, for all ways to divide the ranks.

predictions.py MODEL INPUT.npz [--bind NAME=SIZE]... [--ranks 2 4] [--cluster FILE]...
               [--rounds N] [--repeat N]

For each number of ranks: the candidates of `cleave compile --ranks N --print-plan` are
compiled with the cluster file of that number (in the order of --ranks; without one
`cleave doctor --measure` writes it), and run in turns, so that a machine whose speed
drifts is as unfair to each. Prints milliseconds: predicted, and the least of the rounds'
medians, for what else a machine does only lengthens them; their ratio, and how far the
chosen plan is from the best. Nothing is asserted.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLEAVE = os.path.join(ROOT, "build/bin/cleave")
SIZES = ["--dp", "--tp", "--pp", "--microbatches"]


def call(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def parse_table(text):
    """(flags, predicted milliseconds) of each candidate that can be, the chosen one first."""
    for line in text.splitlines()[1:]:
        row = re.match(r"[* ] (one rank|(?:--\w+ \d+ ?)+) +([\d.]+) ", line)
        if row:
            said = dict(re.findall(r"(--\w+) (\d+)", row[1]))
            yield [part for size in SIZES for part in (size, said.get(size, "1"))], float(row[2])


def measure_plan(out, args):
    report = call(CLEAVE, "run", out, "--input", args.input, "--warmup", "3",
                  "--repeat", str(args.repeat), "--json")
    return json.loads(report.splitlines()[-1])["latency_ms"]["median"]


def compare(ranks, cluster, args, folder):
    compile_model = [CLEAVE, "compile", args.model, "--cluster", cluster, "--ranks", str(ranks),
                     *(part for bind in args.bind for part in ("--bind", bind))]
    table = call(*compile_model, "-o", folder + "/plan.json", "--emit", "plan", "--print-plan")
    plans = list(parse_table(table))
    outs = [f"{folder}/out{ranks}-{number}" for number in range(len(plans))]
    for (flags, _), out in zip(plans, outs):
        call(*compile_model, "-o", out, *flags)
    rounds = [[measure_plan(out, args) for out in outs] for _ in range(args.rounds)]
    times = [min(runs) for runs in zip(*rounds)]
    print(f"{ranks} ranks{'':40} predicted  measured   ratio")
    for (flags, predicted), time in zip(plans, times):
        print(f"  {' '.join(flags):44}{predicted:10.3f}{time:10.3f}{predicted / time:8.2f}")
    print(f"  the chosen plan, the first, takes {times[0] / min(times):.2f} x the best measured")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("input")
    parser.add_argument("--bind", action="append", default=[])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--cluster", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=20)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number, ranks in enumerate(args.ranks):
            cluster = (args.cluster + [""] * len(args.ranks))[number]
            if not cluster:
                cluster = f"{folder}/cluster{ranks}.yaml"
                call(CLEAVE, "doctor", "--measure", "--ranks", str(ranks), "-o", cluster)
                print(open(cluster).read())
            compare(ranks, cluster, args, folder)


main()
