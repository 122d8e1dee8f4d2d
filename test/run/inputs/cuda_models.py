"""One plan of an exported model as CUDA programs, against ONNX Runtime's outputs.

cuda_models.py MODELS FOLDER NAME [FLAGS...]    see run_plan of test/conformance/cuda.py
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../conformance"))
import cuda

models, folder, name, *flags = sys.argv[1:]
stem = f"{models}/{name}.ts.static.keep"
worst, launches = cuda.run_plan(stem + ".onnx", stem, folder, " ".join(flags), 1e-5)
print(f"{name} {' '.join(flags)}: differs by {worst:.2g}; launches a step: {launches}")
