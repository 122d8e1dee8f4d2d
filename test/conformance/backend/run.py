"""run.py - run ONNX's own backend tests, and compare which fail with a list.

usage: run.py nodes|networks LIST [--part I/N] [--only GLOB] [--jobs J] [--flags=FLAGS] [--update]

nodes: all cases of onnx.backend.test.case.node, made in memory; networks: the full
networks in onnx's folder `light`, with the outputs beside them. --part takes every N-th
case, from the I-th on (lit runs the parts at once); --jobs cases run at a time.

LIST has a paragraph for each reason to fail:

    reason: what the user is told in docs, in one line
    message: a regular expression that is found in "case: message of its failure"
    names of cases ...

A case that fails without being on the list, fails with another message, or is on the
list and passes, is an error. --update rewrites the names below each reason, in the
order of the paragraphs; what no message matches stays an error.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import fnmatch
import os
import re
import sys
import textwrap
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnx.backend.test.loader as loader  # noqa: E402
import onnx.backend.test.runner as runner  # noqa: E402
from cleave_backend import CleaveBackend, Refused  # noqa: E402

compare = runner.Runner.assert_similar_outputs


# The list of failures


@dataclasses.dataclass
class Reason:
    text: str
    message: str
    cases: list

    def matches(self, name, message):
        return re.search(self.message, f"{name}: {message}") is not None

    def __str__(self):
        names = textwrap.fill(" ".join(sorted(self.cases)), width=118, break_on_hyphens=False, break_long_words=False)
        return f"reason: {self.text}\nmessage: {self.message}\n{names}\n"


def read_reasons(path):
    with open(path) as file:
        text = "".join(line for line in file if not line.startswith("#"))
    for paragraph in filter(None, map(str.strip, text.split("\n\n"))):
        match = re.fullmatch(r"reason: (.*)\nmessage: (.*)((?:\n.*)*)", paragraph)
        if not match:
            sys.exit(f"{path}: expected lines 'reason: ' and 'message: ', found\n{paragraph}")
        yield Reason(match[1], match[2], match[3].split())


def write_reasons(path, reasons):
    with open(path) as file:
        head = "".join(line for line in file if line.startswith("#"))
    with open(path, "w") as file:
        file.write("\n".join([head] * bool(head) + [str(reason) for reason in reasons]))


# Cases


def load_networks():
    """The cases of folder `light`, with the input that onnx's own runner makes."""
    folder = os.path.join(loader.DATA_DIR, "light")
    for case in loader.load_model_tests(kind="real"):
        model = os.path.join(folder, os.path.basename(case.url))
        case.model = onnx.load(model)
        (output,) = case.model.graph.output
        with open(model.replace(".onnx", "_output_0.pb"), "rb") as file:
            expected = onnx.numpy_helper.to_array(onnx.TensorProto.FromString(file.read()))
        initializers = {tensor.name for tensor in case.model.graph.initializer}
        inputs = [runner.Runner.generate_dummy_data(i) for i in case.model.graph.input if i.name not in initializers]
        case.data_sets = [(inputs, [expected])]
        yield case


def load_cases(kind):
    return loader.load_model_tests(kind="node") if kind == "nodes" else list(load_networks())


def to_array(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def describe_difference(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return "wrong result: " + "; ".join(lines[:3])


def run_case(case, flags):
    """What went wrong in a case; none: it passed."""
    try:
        program = CleaveBackend.prepare(case.model, flags=flags)
        for inputs, expected in case.data_sets:
            found = program.run([to_array(value) for value in inputs])
            with np.errstate(all="ignore"):
                compare([to_array(value) for value in expected], found, case.rtol, case.atol)
    except Refused as error:
        return str(error)
    except AssertionError as error:
        return describe_difference(error)
    return None


def run_cases(cases, flags, jobs):
    """The message of each failure by the case's name."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        messages = pool.map(lambda case: run_case(case, flags), cases)
        return {case.name: message for case, message in zip(cases, messages) if message}


# Verdict


def update(reasons, failures):
    for reason in reasons:
        reason.cases = []
    for name, message in failures.items():
        for reason in reasons:
            if reason.matches(name, message):
                reason.cases.append(name)
                break


def find_errors(reasons, failures, names):
    expected = {name: reason for reason in reasons for name in reason.cases}
    for name, message in failures.items():
        if name not in expected:
            yield f"{name} fails: {message}"
        elif not expected[name].matches(name, message):
            yield f"{name} fails with another message than /{expected[name].message}/: {message}"
    for name, count in collections.Counter(n for reason in reasons for n in reason.cases).items():
        if count > 1:
            yield f"{name} is on the list {count} times"
        if name in names and name not in failures:
            yield f"{name} passes, and is on the list of failures"


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("kind", choices=["nodes", "networks"])
    parser.add_argument("list")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", default="*")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--flags", default="")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()

    cases = load_cases(args.kind)
    unknown = {n for reason in read_reasons(args.list) for n in reason.cases} - {case.name for case in cases}
    first, step = map(int, args.part.split("/"))
    cases = [case for case in cases[first - 1 :: step] if fnmatch.fnmatch(case.name, args.only)]
    failures = run_cases(cases, args.flags.split(), args.jobs)
    reasons = list(read_reasons(args.list))
    if args.update:
        update(reasons, failures)
        write_reasons(args.list, reasons)
        unknown = []
    errors = [f"{name} is on the list, and is no case" for name in sorted(unknown)]
    errors += find_errors(reasons, failures, {case.name for case in cases})
    for error in errors:
        print(f"error: {error}")
    for reason in reasons:
        count = sum(name in failures for name in reason.cases)
        print(f"{count:5} fail as expected: {reason.text}")
    print(f"{args.kind}: {len(cases) - len(failures)} of {len(cases)} pass, {len(errors)} surprises")
    sys.exit(bool(errors))


if __name__ == "__main__":
    main()
