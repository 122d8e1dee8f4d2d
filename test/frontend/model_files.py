"""model_files.py FOLDER - import models as files, sound and damaged, from FOLDER.

Models are made with ONNX's Python package; what cleave-import prints of them is
compared with what was put in.
"""

import os
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = sys.argv[1]
WEIGHT = np.arange(100, dtype=np.float32)


def run(path, *flags):
    """Returns the exit code and all that cleave-import printed."""
    command = ["cleave-import", path, *flags]
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout + result.stderr


def expect_error(path, *texts):
    code, text = run(path)
    assert code == 3, f"{path}: exit code {code}\n{text}"
    assert text.startswith("cleave: error: "), text
    for part in texts:
        assert part in text, f"expected '{part}', found: {text}"


def expect_model(path, *texts):
    code, text = run(path)
    assert code == 0, f"{path}: exit code {code}\n{text}"
    for part in texts:
        assert part in text, f"expected '{part}', found: {text}"
    return text


def make(weight, opset=18, shape=(100,), element=TensorProto.FLOAT):
    """y = x + w"""
    value = lambda name: helper.make_tensor_value_info(name, element, shape)
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    graph = helper.make_graph([node], "g", [value("x")], [value("y")], [weight])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
    )


def save(name, model):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())
    return path


def external(location, offset=None, length=None, dims=(100,)):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": location, "offset": offset, "length": length}
    for key, value in entries.items():
        if value is not None:
            tensor.external_data.add(key=key, value=str(value))
    return tensor


def weights_of(text):
    """Returns file, offset and length of the param @w."""
    found = re.search(r'@w : \S+ = #cleave.weights<"(.*)", (\d+), (\d+)>', text)
    assert found, text
    return found[1], int(found[2]), int(found[3])


def read(text):
    path, offset, length = weights_of(text)
    with open(path, "rb") as file:
        file.seek(offset)
        return np.frombuffer(file.read(length), np.float32)


def test_forms():
    """The same weight in raw, typed and external form is the same bytes of a file."""
    raw = numpy_helper.from_array(WEIGHT, "w")
    typed = helper.make_tensor("w", TensorProto.FLOAT, [100], WEIGHT)
    data = os.path.join(FOLDER, "sub", "w.bin")
    os.makedirs(os.path.dirname(data))
    with open(data, "wb") as file:
        file.write(b"\0" * 8 + WEIGHT.tobytes())
    forms = {"raw": raw, "typed": typed, "external": external("sub/w.bin", 8, 400)}
    for name, tensor in forms.items():
        text = expect_model(save(f"{name}.onnx", make(tensor)))
        assert (read(text) == WEIGHT).all(), name
    text = expect_model(save("no-length.onnx", make(external("./sub/w.bin", 8))))
    assert (read(text) == WEIGHT).all()


def test_16_bit():
    """16-bit floats in int32_data, which is no dense file, travel with the param."""
    half = np.full(100, 1.5, np.float16)
    typed = helper.make_tensor("w", TensorProto.FLOAT16, [100], half)
    model = make(typed, element=TensorProto.FLOAT16)
    expect_model(save("half.onnx", model), "dense<1.500000e+00> : tensor<100xf16>")


def test_external_errors():
    with open(os.path.join(FOLDER, "..", "outside.bin"), "wb") as file:
        file.write(WEIGHT.tobytes())
    link = os.path.join(FOLDER, "link.bin")
    os.symlink("../outside.bin", link)
    cases = {
        "missing.bin": ["external data 'missing.bin' is missing in the model's folder"],
        "../outside.bin": ["'../outside.bin' lies outside the model's folder"],
        "sub/../../outside.bin": ["lies outside the model's folder"],
        "link.bin": ["'link.bin' is a link to a file outside the model's folder"],
        "/etc/passwd": ["must be a path relative to the model's folder"],
        "sub": ["is missing in the model's folder"],
    }
    for location, texts in cases.items():
        path = save("bad.onnx", make(external(location)))
        expect_error(path, "bad.onnx: 'w': external data", *texts)
    short = save("short.onnx", make(external("sub/w.bin", 12, 400)))
    expect_error(short, "'w'", "is too short: found 408 bytes, expected 400 from byte 12 on")
    wrong = save("wrong.onnx", make(external("sub/w.bin", 8, 396)))
    expect_error(wrong, "'w': data of the tensor has 396 bytes, its type and shape need 400")
    huge = save("huge.onnx", make(external("sub/w.bin", 2**63, 400)))
    expect_error(huge, "'w'", "is too short")
    no_number = save("offset.onnx", make(external("sub/w.bin", "0x8", 400)))
    expect_error(no_number, "offset of external data must be a number, found '0x8'")


def test_raw_size():
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[100])
    for count in [99, 10]:
        tensor.raw_data = WEIGHT[:count].tobytes()
        path = save("raw-short.onnx", make(tensor))
        expect_error(path, f"{4 * count} bytes", "400")


def test_damage():
    """A model that was cut anywhere, or is none, is an error and never a crash."""
    good = make(numpy_helper.from_array(WEIGHT, "w")).SerializeToString()
    for size in [0, 1, 2, 3, 10, 50, len(good) // 2, len(good) - 1]:
        path = os.path.join(FOLDER, "cut.onnx")
        with open(path, "wb") as file:
            file.write(good[:size])
        expect_error(path, "not an ONNX model, or truncated: ")
    for content in [b"<html></html>", b"\x89PNG\r\n\x1a\n" + bytes(100), b"\xff" * 100]:
        path = os.path.join(FOLDER, "other.onnx")
        with open(path, "wb") as file:
            file.write(content)
        expect_error(path, "not an ONNX model, or truncated: at byte ")
    expect_error(os.path.join(FOLDER, "nowhere.onnx"), "cannot read the model: No such file")


def test_versions():
    newer = make(numpy_helper.from_array(WEIGHT, "w"))
    newer.ir_version = 99
    known = onnx.IR_VERSION
    expect_error(
        save("ir.onnx", newer),
        f"the file says IR version 99, this build knows up to {known}",
    )
    opset = make(numpy_helper.from_array(WEIGHT, "w"), opset=999)
    known = onnx.defs.onnx_opset_version()
    expect_error(
        save("opset.onnx", opset),
        f"the file says opset 999 of domain '', this build knows up to {known}",
    )


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def test_large():
    """A model of 3 GB in one file, which protobuf cannot parse: a sparse file here.

    Encoded by hand: graph (field 7) ends with an initializer (5) that ends with
    raw_data (9), the hole at the end of the file.
    """
    count = 3 * 2**28
    small = make(external("x"), shape=(count,))
    del small.graph.initializer[:]
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[count])
    head = tensor.SerializeToString() + b"\x4a" + varint(4 * count)
    initializer = b"\x2a" + varint(len(head) + 4 * count) + head
    graph = small.graph.SerializeToString() + initializer
    small.ClearField("graph")
    start = small.SerializeToString() + b"\x3a" + varint(len(graph) + 4 * count) + graph
    path = os.path.join(FOLDER, "large.onnx")
    with open(path, "wb") as file:
        file.write(start)
        file.truncate(len(start) + 4 * count)
    text = expect_model(path, f"tensor<{count}xf32>")
    assert weights_of(text) == (path, len(start), 4 * count), text
    with open(path, "r+b") as file:
        file.truncate(len(start) + 4 * count - 1)
    expect_error(path, "not an ONNX model, or truncated: ", "field 7 needs")


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print(f"{name}: passed")
