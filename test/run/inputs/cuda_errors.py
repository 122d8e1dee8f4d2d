"""A lookup of rows, with indices that are there and one that is not.

cuda_errors.py FOLDER    writes gather.onnx, good.npz, expected.npz, bad.npz
"""

import sys

import numpy as np
import onnx

folder = sys.argv[1]
onnx.save(onnx.parser.parse_model("""
<ir_version: 9, opset_import: ["" : 18]>
lookup (float[4, 3] x, int64[2] ids) => (float[2, 3] y) {
  y = Gather <axis = 0> (x, ids)
}
"""), f"{folder}/gather.onnx")
model = onnx.load(f"{folder}/gather.onnx")
model.graph.node[0].name = "lookup"
onnx.save(model, f"{folder}/gather.onnx")
x = np.arange(12, dtype=np.float32).reshape(4, 3)
np.savez(f"{folder}/good.npz", x=x, ids=np.int64([2, -1]))
np.savez(f"{folder}/expected.npz", y=x[[2, 3]])
np.savez(f"{folder}/bad.npz", x=x, ids=np.int64([2, 4]))
