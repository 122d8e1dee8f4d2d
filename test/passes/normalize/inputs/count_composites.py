"""count_composites.py FILE... - print how many composites each program of text IR has."""

import re
import sys

for path in sys.argv[1:]:
    text = open(path).read()
    count = lambda name: len(re.findall(rf"cleave\.(?:unary +)?{name}\b", text))
    raised = [n for n in ["attention", "gelu_erf", "gelu_tanh", "norm", "silu"] if count(n)]
    counts = [f"{name} {count(name)}" for name in raised + ["softmax", "reduce"]]
    print(f"{path.rsplit('.', 1)[1]}: {', '.join(counts)}")
