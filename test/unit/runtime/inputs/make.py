"""make.py - write the array files of ArraysTest.cpp again, with NumPy and onnx.

usage: make.py FOLDER        (the files are checked in: this says where they come from)
"""

import json
import os
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

out = sys.argv[1]


def path(name):
    return os.path.join(out, name)


half = np.arange(6, dtype=np.float32).reshape(2, 3) / 2
arrays = {
    "half": half,
    "ids": np.array([1, -2, 2**40], dtype=np.int64),
    "flags": np.array([[True], [False]]),
    "scalar": np.float64(-1.5),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "small": half.astype(np.float16),
}
np.savez(path("stored.npz"), **arrays)
np.savez_compressed(path("deflated.npz"), **arrays)
np.save(path("fortran.npy"), np.asfortranarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4)))
np.save(path("big-endian.npy"), np.arange(3, dtype=">f4"))
with open(path("cut-off.npy"), "wb") as file:
    np.save(file, np.arange(100, dtype=np.float32))
    file.truncate(200)

bf16 = (half.view(np.uint32) >> 16).astype(np.uint16)
header = json.dumps({
    "__metadata__": {"by": "hand"},
    "w": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [8, 20]},
    "first": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
}).encode()
with open(path("two.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + struct.pack("<q", 7) + bf16.tobytes())

tensors = {
    "raw": numpy_helper.from_array(half, "half"),
    "floats": helper.make_tensor("half", TensorProto.FLOAT, [2, 3], half.ravel().tolist()),
    "halfs": helper.make_tensor("small", TensorProto.FLOAT16, [2, 3], half.ravel().tolist()),
    "ints": helper.make_tensor("ids", TensorProto.INT64, [3], [1, -2, 2**40]),
    "bytes": helper.make_tensor("bytes", TensorProto.INT8, [2], [-1, 5]),
    "doubles": helper.make_tensor("d", TensorProto.DOUBLE, [], [-1.5]),
}
external = numpy_helper.from_array(half, "half")
external.data_location = TensorProto.EXTERNAL
tensors["external"] = external
for name, tensor in tensors.items():
    onnx.save_tensor(tensor, path(f"{name}.pb"))
