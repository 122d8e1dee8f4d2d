"""Attention of one head size and type, with the answer of its formula in float64.

cuda_attention.py STEM TYPE QUERIES KEYS DEPTH WIDTH    TYPE: FLOAT, FLOAT16 or BFLOAT16
writes STEM.onnx, STEM.in.npz and STEM.expected.npz. The second of two batches hides keys
by its mask, and the first key is hidden from all.
"""

import sys

import numpy as np
import onnx

stem, kind = sys.argv[1:3]
queries, keys, depth, width = map(int, sys.argv[3:])
number = getattr(onnx.TensorProto, kind)
onnx.save(onnx.parser.parse_model(f"""
<ir_version: 9, opset_import: ["" : 18]>
attention (float[2, 3, {queries}, {depth}] q, float[2, 3, {keys}, {depth}] k, float[2, 3, {keys}, {width}] v,
           float[2, 1, 1, {keys}] mask) => (float[2, 3, {queries}, {width}] y) {{
  qc = Cast <to = {number}> (q)
  kc = Cast <to = {number}> (k)
  vc = Cast <to = {number}> (v)
  mc = Cast <to = {number}> (mask)
  f = Constant <value = float {{{depth ** -0.5}}}> ()
  fc = Cast <to = {number}> (f)
  t = Transpose <perm = [0, 1, 3, 2]> (kc)
  s = MatMul (qc, t)
  scaled = Mul (s, fc)
  masked = Add (scaled, mc)
  p = Softmax <axis = -1> (masked)
  yc = MatMul (p, vc)
  y = Cast <to = 1> (yc)
}}
"""), stem + ".onnx")
rng = np.random.default_rng(depth)
q, k, v = (rng.standard_normal((2, 3, rows, columns)).astype(np.float32)
           for rows, columns in [(queries, depth), (keys, depth), (keys, width)])
mask = np.zeros((2, 1, 1, keys), np.float32)
mask[1, ..., keys // 2:] = -1000
mask[..., 0] = -1000
np.savez(stem + ".in.npz", q=q, k=k, v=v, mask=mask)
scores = q.astype(np.float64) @ k.swapaxes(2, 3) * depth ** -0.5 + mask
powers = np.exp(scores - scores.max(-1, keepdims=True))
np.savez(stem + ".expected.npz", y=(powers / powers.sum(-1, keepdims=True) @ v).astype(np.float32))
