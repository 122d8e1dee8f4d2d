"""includes.py ROOT - check that includes point along the arrows between the rooms.

The table of docs/architecture.md, as prefixes of included paths. A file may also
include what lies in its own room.
"""

import os
import re
import sys

import tree

EVERYTHING = [""]
MAY_INCLUDE = {
    "ir": [],
    "frontend": ["ir/"],
    "passes": ["ir/"],
    "codegen": ["ir/", "runtime/Abi.h", "runtime/Format.h"],
    "runtime": [],
    "tools": EVERYTHING,
    "test": EVERYTHING,
}
# Libraries that a room must stay free of, whatever else it uses.
NEVER = {
    "ir": ["onnx/", "google/protobuf/", "lld/", "mpi.h"],
    "frontend": ["lld/", "mpi.h"],
    "passes": ["onnx/", "google/protobuf/", "lld/", "mpi.h"],
    "codegen": ["onnx/", "google/protobuf/", "mpi.h"],
    "runtime": ["llvm/", "mlir/", "lld/", "onnx/", "google/protobuf/"],
}
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def target(root, path, included):
    """Returns the path of `included` in the tree; siblings need no folder."""
    sibling = os.path.normpath(os.path.join(os.path.dirname(path), included))
    return sibling if os.path.exists(os.path.join(root, sibling)) else included


def errors(root):
    for path in tree.files(root, ".h", ".cpp", ".td", ".inc", ".c"):
        room = path.split("/")[0]
        if room not in MAY_INCLUDE:
            continue
        for match in INCLUDE.finditer(tree.read(root, path)):
            included = target(root, path, match[1])
            line = tree.read(root, path)[: match.start(1)].count("\n") + 1
            where = f"{path}:{line}: room '{room}' must not include '{match[1]}'"
            if included.startswith(tuple(NEVER.get(room, []))):
                yield f"{where}: that library is not for this room"
            elif included.split("/")[0] in MAY_INCLUDE and not included.startswith(
                tuple([room + "/", *MAY_INCLUDE[room]])
            ):
                allowed = ", ".join(MAY_INCLUDE[room]) or "nothing else of ours"
                yield f"{where}: found room '{included.split('/')[0]}', allowed: {allowed}"


tree.report(errors(sys.argv[1]), "includes")
