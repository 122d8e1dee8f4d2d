"""paths.py ROOT - check that no file names a folder of somebody's machine."""

import re
import sys

import tree

TEXT = (".h", ".cpp", ".td", ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".mlir", ".onnxtxt", ".test", ".yaml", "Makefile", "run")
MACHINE = re.compile(r"(?<![\w.$}])/(?:work|root|home/\w+|Users/\w+)/")


def errors(root):
    for path in tree.files(root, *TEXT):
        for number, line in enumerate(tree.read(root, path).splitlines(), 1):
            if match := MACHINE.search(line):
                yield f"{path}:{number}: found '{match[0]}', a folder of one machine"


tree.report(errors(sys.argv[1]), "paths")
