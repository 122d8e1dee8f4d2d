"""readmes.py ROOT - check that each room has a README.md of at most a page."""

import os
import sys

import tree

ROOMS = ["ir", "runtime", "frontend", "passes", "codegen", "tools", "test", "docs"]
LINES_OF_A_PAGE = 60


def errors(root):
    for room in ROOMS:
        readme = os.path.join(room, "README.md")
        if not os.path.exists(os.path.join(root, readme)):
            yield f"{readme}: not there: each room says what lives in it"
        elif tree.read(root, readme).count("\n") > LINES_OF_A_PAGE:
            yield f"{readme}: longer than a page of {LINES_OF_A_PAGE} lines"


tree.report(errors(sys.argv[1]), "readmes")
