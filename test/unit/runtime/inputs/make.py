"""make.py - write the array files of ArraysTest.cpp again, with NumPy and onnx.

usage: make.py FOLDER        (the files are checked in: this says where they come from)
"""

import io
import json
import os
import struct
import sys
import zlib

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



def write_wide_archive(file, name, image):
    """A zip archive whose directory has all sizes and offsets in 64-bit fields only, as those
    of more than 4 GiB have."""
    crc, size, full = zlib.crc32(image), len(image), 0xFFFFFFFF
    sizes = struct.pack("<QQ", size, size)
    extra = struct.pack("<HH", 1, len(sizes)) + sizes
    member = struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x21, crc, full, full, len(name), len(extra))
    member += name + extra + image
    extra = struct.pack("<HH", 1, 24) + sizes + struct.pack("<Q", 0)
    directory = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x21, crc, full, full, len(name),
                            len(extra), 0, 0, 0, 0, full) + name + extra
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(directory), len(member))
    end += struct.pack("<IIQI", 0x07064B50, 0, len(member) + len(directory), 1)
    end += struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, full, full, 0)
    with open(file, "wb") as stream:
        stream.write(member + directory + end)


image = io.BytesIO()
np.save(image, half)
write_wide_archive(path("wide.npz"), b"half.npy", image.getvalue())

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
