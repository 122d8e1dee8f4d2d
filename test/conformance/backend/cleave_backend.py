"""cleave_backend.py - Cleave as a backend of ONNX (`onnx.backend.base.Backend`).

A model is compiled by `cleave compile` when it is first run, because only then the
shapes of all inputs are known, and runs under `cleave run --loopback`. Where Cleave says
that an input (axes, sizes, a number of steps) has to be known at compile time, it is
given with `--value`, as a user would. A step that fails raises `Refused` with the one
line that Cleave said.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnx.backend.base

DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8,
    "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip
DTYPE_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


class Refused(Exception):
    """What Cleave said instead of a result."""


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        end = offset + array.nbytes
        header[name] = {"dtype": DTYPE_NAMES[array.dtype], "shape": array.shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        arrays[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays


def call(what, *command):
    """Runs a command; what it says on failure, with its exit code, is the error."""
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if result.returncode:
        raise Refused(f"{what}, exit code {result.returncode}: {' '.join(result.stdout.split())}")


def get_shape_flags(inputs):
    """Gives all sizes of each input (and its array) whose sizes the model leaves open."""
    for info, array in inputs:
        tensor = info.type.tensor_type
        is_known = tensor.HasField("shape") and all(d.HasField("dim_value") for d in tensor.shape.dim)
        if info.type.HasField("tensor_type") and isinstance(array, np.ndarray) and not is_known:
            yield from ["--shapes", f"{info.name}:{'x'.join(map(str, array.shape))}"]


def find_unknown(message, inputs, arrays):
    """The small inputs that a compile, by its message, has to know: the one that is named, else all of integers or, if
    there are none, all."""
    if not re.search(r"known (only )?at (compile|run) time", message):
        return []
    named = re.search(r"'([^']+)' \[[\d, ]*\] \(an input\)", message)
    small = {info.name: array for info, array in zip(inputs, arrays)
             if isinstance(array, np.ndarray) and array.ndim <= 1 and array.size <= 16 and array.dtype.kind in "biufV"}  # fmt: skip
    if named:
        return [named[1]] if named[1] in small else []
    return [name for name, array in small.items() if array.dtype.kind in "bi"] or list(small)


def format_value(name, array):
    """Numbers as Python prints them: as many digits as tell them apart."""
    number = int if array.dtype.kind in "biu" else float
    return f"--value={name}={','.join(str(number(x)) for x in array.flat)}"


class Program(onnx.backend.base.BackendRep):
    """A model that is compiled for the shapes of its first inputs."""

    def __init__(self, model, flags):
        self.model, self.flags = model, flags
        initializers = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [i for i in model.graph.input if i.name not in initializers]
        self.folder = tempfile.mkdtemp(prefix="cleave-backend-")
        self.is_compiled = False
        self.values = []  # names of inputs that are constants

    def __del__(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, arrays):
        onnx.save(self.model, self.path("model.onnx"))
        while not self.is_compiled:
            open_inputs = [(info, array) for info, array in zip(self.inputs, arrays) if info.name not in self.values]
            flags = [*self.flags, *get_shape_flags(open_inputs)]
            flags += [format_value(i.name, array) for i, array in zip(self.inputs, arrays) if i.name in self.values]
            try:
                call("compile", "cleave", "compile", self.path("model.onnx"), "-o", self.path("out"), *flags)
                self.is_compiled = True
            except Refused as error:
                new = set(find_unknown(str(error), *zip(*open_inputs))) if open_inputs else set()
                if not new:
                    raise
                self.values += new

    def run(self, inputs, **kwargs):
        """The outputs, in the order of the model."""
        inputs = [np.asarray(value) if isinstance(value, np.generic) else value for value in inputs]
        if not self.is_compiled:
            self.compile(inputs)
        arrays = {info.name: np.array(array, order="C") for info, array in zip(self.inputs, inputs)
                  if info.name not in self.values}
        write_safetensors(self.path("in.safetensors"), arrays)
        # One rank is a program of its own, which starts in a fifth of the time.
        program = ["cleave", "run", self.path("out"), "--loopback"] if self.flags else [self.path("out/rank-0")]
        call("run", *program, "--threads", "1", "--input", self.path("in.safetensors"), "--output", self.path("out.safetensors"))
        outputs = read_safetensors(self.path("out.safetensors"))
        return tuple(outputs[output.name] for output in self.model.graph.output)


class CleaveBackend(onnx.backend.base.Backend):
    @classmethod
    def prepare(cls, model, device="CPU", *, flags=(), **kwargs):
        """`flags`: those of `cleave compile`, such as --tp 2."""
        return Program(model, flags)

    @classmethod
    def supports_device(cls, device):
        return device == "CPU"
