#!/usr/bin/env python3
"""picture.py - the demo's input, and its outputs beside ONNX Runtime's.

usage: picture.py make OUT [PICTURE]      OUT/picture.png and OUT/input.npz
       picture.py compare OUT MODEL       OUT/attention.png; fails if outputs differ
"""

import json
import sys
import time

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFilter

SIZE = 224
MEAN, STD = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
TOLERANCE = 1e-4  # largest difference by largest value


def draw():
    """Draws a balloon over hills, with the grain of a photograph."""
    wide = 2 * SIZE
    sky = np.linspace((92, 148, 214), (226, 232, 238), wide)[:, None].repeat(wide, 1)
    image = Image.fromarray(sky.astype(np.uint8))
    pen = ImageDraw.Draw(image)
    pen.ellipse((-120, 300, 330, 640), fill=(86, 122, 74))
    pen.ellipse((180, 320, 640, 680), fill=(66, 102, 60))
    pen.ellipse((232, 70, 352, 210), fill=(196, 44, 38))
    pen.ellipse((268, 70, 316, 210), fill=(236, 190, 64))
    pen.polygon([(250, 186), (334, 186), (300, 232), (284, 232)], fill=(160, 34, 32))
    pen.rectangle((282, 240, 302, 258), fill=(94, 64, 40))
    image = image.filter(ImageFilter.GaussianBlur(1.2))
    grain = np.random.default_rng(0).normal(0, 5, (wide, wide, 3))
    return Image.fromarray(np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8))


def make(out, picture=""):
    image = Image.open(picture).convert("RGB") if picture else draw()
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    image = image.crop((left, top, left + side, top + side)).resize((SIZE, SIZE))
    image.save(f"{out}/picture.png")
    pixels = (np.asarray(image, np.float32) / 255 - MEAN) / STD
    np.savez(f"{out}/input.npz", input_image=pixels.transpose(2, 0, 1)[None])
    print(f"demo: the picture is {out}/picture.png")


def milliseconds(session, feeds, warmup=5, repeat=30):
    times = []
    for _ in range(warmup + repeat):
        start = time.perf_counter()
        (result,) = session.run(None, feeds)
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times[warmup:])), result


def paint(out, attention):
    """Puts the picture and the same picture lit by the map side by side."""
    picture = Image.open(f"{out}/picture.png")
    light = Image.fromarray((255 * attention).astype(np.uint8)).resize(picture.size)
    dark = Image.eval(picture, lambda value: value // 4)
    glow = Image.composite(picture, dark, light)
    heat = Image.merge("RGB", (light, light.point(lambda v: v // 3), light.point(lambda v: 0)))
    both = Image.new("RGB", (2 * SIZE + 8, SIZE), "white")
    both.paste(picture, (0, 0))
    both.paste(Image.blend(glow, heat, 0.3), (SIZE + 8, 0))
    both.save(f"{out}/attention.png")


def compare(out, model):
    with open(f"{out}/report.json") as file:
        report = json.loads(file.read().splitlines()[-1])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = report["ranks"] * report["threads"]
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    theirs, expected = milliseconds(session, dict(np.load(f"{out}/input.npz")))
    (found,) = np.load(f"{out}/output.npz").values()

    error = np.abs(found - expected).max() / np.abs(expected).max()
    ours = report["latency_ms"]["median"]
    print(f"  cleave        {ours:7.1f} ms   {report['ranks']} ranks of {report['threads']} threads")
    print(f"  ONNX Runtime  {theirs:7.1f} ms   1 process of {options.intra_op_num_threads} threads")
    print(f"  outputs differ by {error:.1e} of the largest value (at most {TOLERANCE:.0e} is wanted)")
    paint(out, found.squeeze())
    if not error <= TOLERANCE:
        sys.exit("demo: the outputs differ")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](*sys.argv[2:])
