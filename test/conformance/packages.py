"""packages.py - compile a model of a package for several plans, compare with ONNX Runtime.

usage: packages.py MODEL WORK TOLERANCE PLANS INPUT=SHAPE[:SCALE]... [NAME:=INTEGER]...

PLANS are flags, separated by commas. Inputs are normal numbers times SCALE (default 1), or
the picture of a word where SHAPE ends in "picture"; NAME:=5 is a scalar that decides
shapes, a constant of the program. All ranks run in one process.
"""

import os
import subprocess
import sys

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont


def draw(shape):
    """The same word on each picture, mirrored on every other, from -1 to 1."""
    image = Image.new("RGB", (shape[3], shape[2]), "white")
    ImageDraw.Draw(image).text((8, shape[2] // 4), "Cleave 7", fill="black", font=ImageFont.load_default(24))
    picture = np.asarray(image, np.float32).transpose(2, 0, 1) / 127.5 - 1
    return np.stack([picture[:, :, :: -1 if i % 2 else 1] for i in range(shape[0])])


def make(arguments):
    """Feeds for ONNX Runtime, and what cleave is told of them."""
    random, feeds, flags, given = np.random.default_rng(0), {}, [], {}
    for argument in arguments:
        if ":=" in argument:
            name, value = argument.split(":=")
            feeds[name] = np.array(int(value), np.int64)
            flags += ["--value", f"{name}={value}"]
            continue
        name, text = argument.split("=")
        sizes, _, kind = text.partition(":")
        shape = [int(size) for size in sizes.split("x")]
        scale = 1 if kind in ("", "picture") else float(kind)
        normal = random.standard_normal(shape, np.float32) * np.float32(scale)
        feeds[name] = given[name] = draw(shape) if kind == "picture" else normal
        flags += ["--shapes", f"{name}:{sizes}"]
    return feeds, flags, given


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{' '.join(command)}\n{result.stdout}", flush=True)
    return result.returncode


def main(model, work, tolerance, plans, *arguments):
    os.makedirs(work, exist_ok=True)
    inputs, outputs, out = (os.path.join(work, name) for name in ["in.npz", "expected.npz", "out"])
    feeds, flags, given = make(arguments)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    np.savez(inputs, **given)
    np.savez(outputs, **dict(zip(names, session.run(names, feeds))))
    failed = 0
    for plan in plans.split(","):
        failed += call("cleave", "compile", model, "-o", out, *flags, *plan.split()) or call(
            "cleave", "run", out, "--loopback", "--input", inputs, "--compare", outputs,
            "--tolerance", tolerance)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
