"""tree.py - the project's files, for the checks beside it, and how they report."""

import os
import sys

NOT_OURS = {"build", "__pycache__"}


def files(root, *suffixes):
    """Yields the paths below `root`, relative to it, that end in a suffix."""
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(
            s for s in subfolders if s not in NOT_OURS and not s.startswith(".")
        )
        for name in sorted(names):
            if name.endswith(suffixes):
                yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def report(errors, checked):
    """Prints each error and exits 1, or says how much was found right."""
    errors = list(errors)
    for error in errors:
        print(error)
    if errors:
        sys.exit(1)
    print(f"{checked}: no error")
