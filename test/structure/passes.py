"""passes.py ROOT - check that each pass has its one name in all four spellings.

For `--cleave-cut-stages` declared in a Passes.td: the definition CutStages or
CutStagesPass, one file CutStages.cpp below the folder of that Passes.td, and the
test cut-stages.mlir in the folder of test/ that mirrors where the file is.
"""

import os
import re
import sys

import tree

DEFINITION = re.compile(r'^def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*"([\w-]+)"', re.MULTILINE)


def verify_pass(root, declared_in, definition, flag):
    if not flag.startswith("cleave-"):
        yield f"{declared_in}: pass '{flag}': the flag must start with 'cleave-'"
        return
    name = flag.removeprefix("cleave-")
    camel = "".join(word.capitalize() for word in name.split("-"))
    if definition.removesuffix("Pass") != camel:
        yield f"{declared_in}: pass '{flag}': found definition '{definition}', expected '{camel}Pass'"
    folder = os.path.dirname(declared_in)
    sources = [
        path
        for path in tree.files(root, f"{camel}.cpp")
        if os.path.basename(path) == f"{camel}.cpp" and path.startswith(folder + "/")
    ]
    if len(sources) != 1:
        yield f"{declared_in}: pass '{flag}': found {len(sources)} files '{camel}.cpp' below {folder}/, expected one"
        return
    test = os.path.join("test", os.path.dirname(sources[0]), name + ".mlir")
    if not os.path.exists(os.path.join(root, test)):
        yield f"{declared_in}: pass '{flag}': no test '{test}'"


def errors(root):
    for path in tree.files(root, "Passes.td"):
        for match in DEFINITION.finditer(tree.read(root, path)):
            yield from verify_pass(root, path, match[1], match[2])


tree.report(errors(sys.argv[1]), "passes")
