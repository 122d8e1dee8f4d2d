"""run_normalized.py FILE.mlir - check that normalized programs compute the same.

Each program of FILE (they are split at `// -----`) is evaluated with numpy before and
after the passes of the normalize phase, on the same inputs and params. The largest
difference is at most 1e-6 of the largest value: constants are float32.

Prints "the same: OUTPUT, ..." for each program, or what differs.
"""

import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../partition/inputs"))
import run_ranks  # noqa: E402

PASSES = """
    --cleave-simplify --cse --cleave-raise-gelu --cleave-raise-norm --cleave-unflatten-heads
    --cleave-simplify --cse --cleave-raise-attention --cleave-simplify --cse
""".split()

run_ranks.UNARY.update(
    gelu_tanh=lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    silu=lambda x: x / (1 + np.exp(-x)),
)

for text in open(sys.argv[1]).read().split("// -----"):
    before = run_ranks.run_whole(run_ranks.read(text))
    after = run_ranks.run_whole(run_ranks.read(text, *PASSES))
    for name, expected in before.items():
        if not np.abs(after[name] - expected).max() <= 1e-6 * np.abs(expected).max():
            raise SystemExit(f"{name}: found\n{after[name]}\nexpected\n{expected}\nin{text}")
    print(f"the same: {', '.join(sorted(before))}")
