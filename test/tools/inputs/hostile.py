"""hostile.py - files that no tool of good will writes, and a disk that is full.

usage: hostile.py json FILE             brackets, 300,000 deep
       hostile.py bodies FILE.onnx      60,000 bodies, one in the other
       hostile.py full BYTES COMMAND... runs the command; files can have BYTES at most
       hostile.py leave OUT             leaves what a killed compile to OUT leaves
"""

import os
import resource
import signal
import subprocess
import sys


def encode(number, size):
    """Tag and length of a field of the protobuf wire format."""
    text = b""
    for value in [number << 3 | 2, size]:
        while value >= 128:
            text += bytes([value & 127 | 128])
            value >>= 7
        text += bytes([value])
    return text


def write_bodies(path):
    heads, size = [], 0
    for i in range(180000):  # GraphProto in AttributeProto in NodeProto in GraphProto
        heads.append(encode([6, 5, 1][i % 3], size))
        size += len(heads[-1])
    with open(path, "wb") as file:
        file.write(encode(7, size) + b"".join(reversed(heads)))


def limit(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


kind, target, *command = sys.argv[1:]
if kind == "json":
    with open(target, "w") as file:
        file.write("[" * 300000)
elif kind == "bodies":
    write_bodies(target)
elif kind == "full":
    sys.exit(subprocess.run(command, preexec_fn=lambda: limit(int(target)), restore_signals=False).returncode)
elif kind == "leave":
    process = subprocess.Popen(["true"])
    process.wait()
    os.makedirs(f"{target}.new-{process.pid}/lib")
