"""seeds.py FOLDER - write the models of test/frontend, small as they are, as seeds."""

import os
import re
import sys

import onnx.parser

tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../frontend")
os.makedirs(sys.argv[1], exist_ok=True)
count = 0
for name in sorted(os.listdir(tests)):
    if not name.endswith(".onnxtxt"):
        continue
    with open(os.path.join(tests, name)) as file:
        text = file.read()
    for i, part in enumerate(re.split(r"(?m)^(?://|#)---.*$", text)):
        try:
            model = onnx.parser.parse_model(part)
        except onnx.parser.ParseError:
            continue
        with open(os.path.join(sys.argv[1], f"{name.removesuffix('.onnxtxt')}-{i}.onnx"), "wb") as file:
            file.write(model.SerializeToString())
        count += 1
print(f"seeds: {count} models in {sys.argv[1]}")
