"""buckets.py make MODEL DATA | check OUT DATA | api OUT DATA | weights OUT - a layer of attention for several sizes.

make     writes the model, and for each size inputs and ONNX Runtime's output: DATA/BxS.npz and DATA/BxS.ref.npz
check    runs each size with `cleave run` and compares
api      opens OUT once by its C interface, and runs all sizes in turn, twice
weights  what the ranks of OUT keep is there once, for all buckets, under the model's own names
"""

import ctypes
import json
import os
import subprocess
import sys

import numpy as np

SIZES = [(1, 7), (2, 5), (4, 16)]
MODEL = """
<ir_version: 10, opset_import: ["" : 20]>
layer (float[batch, seq, 16] x, int64[batch, seq] ids) => (float[batch, seq, 16] y)
<float[16, 48] qkv, float[16, 16] out, float[40, 16] table, float[32, 16] positions>
{
  heads = Constant <value_ints: ints = [0, 0, 3, 2, 8]> ()
  flat = Constant <value_ints: ints = [0, 0, 16]> ()
  zero = Constant <value_ints: ints = [0]> ()
  one = Constant <value_ints: ints = [1]> ()
  scale = Constant <value: tensor = float {0.35}> ()
  shape = Shape (x)
  length = Gather (shape, one)
  own = Slice (positions, zero, length, zero)
  words = Gather (table, ids)
  placed = Add (words, own)
  h = Add (x, placed)
  p = MatMul (h, qkv)
  r = Reshape (p, heads)
  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
  q3, k3, v3 = Split <axis = 0, num_outputs = 3> (t)
  q = Squeeze (q3, zero)
  k = Squeeze (k3, zero)
  v = Squeeze (v3, zero)
  kt = Transpose <perm = [0, 1, 3, 2]> (k)
  s = MatMul (q, kt)
  scaled = Mul (s, scale)
  w = Softmax <axis = -1> (scaled)
  a = MatMul (w, v)
  b = Transpose <perm = [0, 2, 1, 3]> (a)
  c = Reshape (b, flat)
  d = MatMul (c, out)
  y = Add (d, h)
}
"""


def make(path, folder):
    import onnx
    import onnxruntime

    model = onnx.parser.parse_model(MODEL)
    random = np.random.default_rng(7)
    for name, shape in {"qkv": (16, 48), "out": (16, 16), "table": (40, 16), "positions": (32, 16)}.items():
        values = random.standard_normal(shape).astype(np.float32)
        kept = [tensor for tensor in model.graph.initializer if tensor.name == name]
        for tensor in kept:
            model.graph.initializer.remove(tensor)
        model.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    onnx.save(model, path)
    os.makedirs(folder, exist_ok=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for batch, length in SIZES:
        inputs = {"x": random.standard_normal((batch, length, 16)).astype(np.float32),
                  "ids": random.integers(0, 40, (batch, length))}
        np.savez(f"{folder}/{batch}x{length}.npz", **inputs)
        np.savez(f"{folder}/{batch}x{length}.ref.npz", y=session.run(["y"], inputs)[0])


def compare(size, found, folder):
    expected = np.load(f"{folder}/{size}.ref.npz")["y"]
    error = np.abs(found - expected).max() / np.abs(expected).max()
    if found.shape != expected.shape or not error <= 1e-5:
        sys.exit(f"WRONG: {size}: {found.shape}, error {error:.1e}")
    print(f"equal: {size}")


def check(out, folder):
    for batch, length in SIZES:
        size = f"{batch}x{length}"
        subprocess.run(["cleave", "run", out, "--loopback", "--input", f"{folder}/{size}.npz", "--output",
                        f"{folder}/{size}.found.npz"], check=True)
        compare(size, np.load(f"{folder}/{size}.found.npz")["y"], folder)


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


def get_addresses(arrays):
    return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])


def api(out, folder):
    library = ctypes.CDLL(f"{out}/lib/libcleave_program.so")
    library.cleaveBucketOutput.restype = ctypes.POINTER(Tensor)
    library.cleaveError.restype = ctypes.c_char_p
    model = ctypes.c_void_p()
    assert library.cleaveOpen(out.encode(), None, ctypes.byref(model)) == 0, library.cleaveError()
    assert library.cleaveBucketCount(model) == len(SIZES)
    for batch, length in SIZES + SIZES:
        data = np.load(f"{folder}/{batch}x{length}.npz")
        inputs = [np.ascontiguousarray(data[name]) for name in ("x", "ids")]
        shapes = [np.array(array.shape, np.int64) for array in inputs]
        bucket = library.cleaveFindBucket(model, get_addresses(shapes))
        output = library.cleaveBucketOutput(model, bucket, 0).contents
        found = np.empty(output.shape[:output.rank], np.float32)
        code = library.cleaveRunBucket(model, bucket, get_addresses(inputs), get_addresses([found]))
        assert code == 0, library.cleaveError()
        compare(f"{batch}x{length}", found, folder)
    shapes = [np.array((3, 3, 16), np.int64), np.array((3, 3), np.int64)]
    assert library.cleaveFindBucket(model, get_addresses(shapes)) == -1
    assert library.cleaveRunBucket(model, len(SIZES), None, None) == 2
    print(library.cleaveError().decode())
    library.cleaveClose(model)


def weights(out):
    with open(f"{out}/manifest.json") as file:
        manifest = json.load(file)
    for bucket in [manifest] + manifest["buckets"]:
        for program in bucket["programs"]:
            names = {state["name"] for state in program["state"]}
            large = {"qkv", "out", "table"}
            assert not [name for name in names if "@bucket" in name and name.split("@")[0] in large], names
    print("shared by", 1 + len(manifest["buckets"]), "buckets")


{"make": make, "check": check, "api": api, "weights": weights}[sys.argv[1]](*sys.argv[2:])
