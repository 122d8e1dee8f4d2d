"""manifest.py OUT [damage FILE] - check OUT's manifest against its files, or flip a bit.

Checksums are compared with hashlib's; the needs of the system with what readelf says.
"""

import hashlib
import json
import os
import re
import subprocess
import sys

out = sys.argv[1]
if len(sys.argv) > 2:
    path = os.path.join(out, sys.argv[3])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    data[len(data) // 2] ^= 1
    os.remove(path)  # it may be a hard link
    with open(path, "wb") as file:
        file.write(data)
    sys.exit()

with open(os.path.join(out, "manifest.json")) as file:
    manifest = json.load(file)
listed = {file["path"]: file for file in manifest["files"]}
there = {os.path.relpath(os.path.join(folder, name), out)
         for folder, _, names in os.walk(out) for name in names}
assert there - set(listed) == {"manifest.json"}, there ^ set(listed)

glibc, mpi = (0,), None
for path, entry in listed.items():
    with open(os.path.join(out, path), "rb") as file:
        data = file.read()
    assert entry["bytes"] == len(data), path
    assert entry["sha256"] == hashlib.sha256(data).hexdigest(), path
    if data[:4] == b"\x7fELF":
        text = subprocess.check_output(["readelf", "-VdW", os.path.join(out, path)], text=True)
        for version in re.findall(r"Name: GLIBC_([0-9.]+)", text):
            glibc = max(glibc, tuple(map(int, version.split("."))))
        for name in re.findall(r"NEEDED.*\[(libmpi\S+)\]", text):
            mpi = name
assert manifest["requires"] == {"glibc": ".".join(map(str, glibc)), "mpi": mpi}, manifest["requires"]

ranks = [[0], [1]]
assert [listed[f"rank-{rank}"]["ranks"] for rank in (0, 1)] == ranks
assert [listed[manifest["ranks"][rank]["weights"]]["ranks"] for rank in (0, 1)] == ranks
assert listed["programs/p0.so"]["ranks"] == [0, 1] and "ranks" not in listed["launch"]
