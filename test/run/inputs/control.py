"""Runs If, Loop and Scan on several plans, against ONNX Runtime.

control.py WORK
"""

import sys

import numpy as np
from against_ort import check

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

# Both sides of an If that only a run decides; the side that is not taken would read
# beyond the end, or divide by 0.
BRANCHES = HEAD + """
main (float[6,4] x, int64[3] i, bool c) => (float[3,4] y) {
  y = If (c) <
    then_branch = one () => (float[3,4] a) { a = Gather(x, i) },
    else_branch = two () => (float[3,4] b)
    <int64[3] many = {60,60,60}, int64[2] shape = {3,1}, int64[3] rows = {5,0,1}>
    {
      q = Div(many, i)
      f = Cast <to = 1> (q)
      column = Reshape(f, shape)
      some = Gather(x, rows)
      b = Mul(some, column)
    }
  >
}
"""

# Newton's iteration until the square is close, at most 6 steps.
WHILE = HEAD + """
main (float[5] x) => (float[5] root)
<int64 most = {6}, float half = {0.5}, float close = {1e-3}>
{
  root = Loop (most, , x) <
    body = step (int64 i, bool c, float[5] old) => (bool next, float[5] new) {
      quotient = Div(x, old)
      sum = Add(old, quotient)
      new = Mul(sum, half)
      square = Mul(new, new)
      difference = Sub(square, x)
      distance = Abs(difference)
      largest = ReduceMax <keepdims = 0> (distance)
      next = Greater(largest, close)
    }
  >
}
"""

FOR = HEAD + """
main (float[6,4] x, float[4,4] w) => (float[6,4] last, float[3,6,4] all, float[3] numbers)
<int64 most = {3}, bool yes = {1}>
{
  last, all, numbers = Loop (most, yes, x) <
    body = step (int64 i, bool c, float[6,4] old) => (bool next, float[6,4] new, float[6,4] seen, float number) {
      next = Identity(c)
      product = MatMul(old, w)
      new = Tanh(product)
      seen = Add(new, x)
      number = Cast <to = 1> (i)
    }
  >
}
"""

SCAN = HEAD + """
main (float[6,4] state, float[6,3,4] x, float[4,4] w) => (float[6,4] last, float[6,3,4] all)
{
  last, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],
                    scan_output_axes = [1], scan_output_directions = [1],
    body = step (float[6,4] old, float[6,4] element) => (float[6,4] new, float[6,4] seen) {
      product = MatMul(old, w)
      sum = Add(product, element)
      new = Tanh(sum)
      seen = Identity(new)
    }
  > (state, x)
}
"""


def main(work):
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape, np.float32)  # noqa: E731
    rows = normal(6, 4)
    check("then", BRANCHES, {"x": rows, "i": np.array([0, 5, 2]), "c": np.array(True)}, work, 0)
    check("else", BRANCHES, {"x": rows, "i": np.array([7, -9, 100]), "c": np.array(False)}, work, 1e-6)
    check("while-early", WHILE, {"x": np.full(5, 1.01, np.float32)}, work, 1e-6)
    check("while-late", WHILE, {"x": np.arange(1, 6, dtype=np.float32)}, work, 1e-6)
    check("for", FOR, {"x": rows, "w": normal(4, 4)}, work, 1e-5)
    check("scan", SCAN, {"state": rows, "x": normal(6, 3, 4), "w": normal(4, 4)}, work, 1e-5)


main(sys.argv[1])
