"""format.py ROOT - check that each C++ file is as clang-format writes it (`make format` mends it)."""

import subprocess
import sys

import tree

root = sys.argv[1]
sources = list(tree.files(root, ".h", ".cpp", ".c"))
command = ["clang-format-14", "--style=LLVM", "--dry-run", "-Werror", "-ferror-limit=1"]
result = subprocess.run(command + sources, cwd=root, stderr=subprocess.PIPE, text=True)
tree.report(
    [line for line in result.stderr.splitlines() if "error:" in line] or
    ([result.stderr] if result.returncode else []),
    "format",
)
