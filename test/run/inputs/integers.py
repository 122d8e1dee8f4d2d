"""Runs a small program on many plans; its numbers are integers, so equality is exact.

integers.py WORK

Two products with uneven sizes, a bias, relu, a transpose, a reshape that splits a
dim, a sum over it and a reduction over rows. Every plan runs all its ranks as
threads of one process, as compiled by default and with what each option turns off,
and must give the bits that numpy gives in int64.
"""

import os
import shutil
import subprocess
import sys

import numpy as np

ROWS, IN, HIDDEN, OUT = 5, 6, 12, 7

PLANS = ["", "--tp 2", "--tp 4", "--tp 5", "--tp 8", "--dp 2", "--dp 4", "--pp 2", "--pp 4",
         "--dp 2 --tp 2", "--dp 2 --tp 4", "--pp 2 --dp 2 --tp 2", "--tp 3 --pp 2",
         "--microbatches 5", "--pp 2 --microbatches 5", "--tp 2 --pp 2 --microbatches 5"]

DOT = ("{lhs_batch = array<i64>, rhs_batch = array<i64>, "
       "lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}")

PROGRAM = """
cleave.param @w1 : tensor<6x12xf32> = dense<{w1}> : tensor<6x12xf32>
cleave.param @b1 : tensor<12xf32> = dense<{b1}> : tensor<12xf32>
cleave.param @w2 : tensor<12x7xf32> = dense<{w2}> : tensor<12x7xf32>
func.func @main(%x: tensor<5x6xf32> {{cleave.name = "x"}})
    -> (tensor<5x7xf32> {{cleave.name = "y"}}, tensor<4x5xf32> {{cleave.name = "groups"}}, tensor<7xf32> {{cleave.name = "columns"}}) {{
  %w1 = cleave.load @w1 : tensor<6x12xf32>
  %b1 = cleave.load @b1 : tensor<12xf32>
  %w2 = cleave.load @w2 : tensor<12x7xf32>
  %p = cleave.dot %x, %w1 {dot} : (tensor<5x6xf32>, tensor<6x12xf32>) -> tensor<5x12xf32>
  %bias = cleave.broadcast %b1 {{dims = array<i64: 1>}} : (tensor<12xf32>) -> tensor<5x12xf32>
  %s = cleave.binary add %p, %bias : tensor<5x12xf32>
  %h = cleave.unary relu %s : tensor<5x12xf32>
  %y = cleave.dot %h, %w2 {dot} : (tensor<5x12xf32>, tensor<12x7xf32>) -> tensor<5x7xf32>
  %t = cleave.transpose %h {{perm = array<i64: 1, 0>}} : (tensor<5x12xf32>) -> tensor<12x5xf32>
  %r = cleave.reshape %t : (tensor<12x5xf32>) -> tensor<4x3x5xf32>
  %groups = cleave.reduce sum %r {{dims = array<i64: 1>}} : (tensor<4x3x5xf32>) -> tensor<4x5xf32>
  %columns = cleave.reduce max %y {{dims = array<i64: 0>}} : (tensor<5x7xf32>) -> tensor<7xf32>
  return %y, %groups, %columns : tensor<5x7xf32>, tensor<4x5xf32>, tensor<7xf32>
}}
"""


def call(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")


def main(work):
    os.makedirs(work, exist_ok=True)
    random = np.random.default_rng(0)
    x, w1, b1, w2 = (random.integers(-4, 5, shape) for shape in
                     [(ROWS, IN), (IN, HIDDEN), (HIDDEN,), (HIDDEN, OUT)])
    hidden = np.maximum(x @ w1 + b1, 0)
    y = hidden @ w2
    expected = {"y": y, "groups": hidden.T.reshape(4, 3, ROWS).sum(axis=1), "columns": y.max(axis=0)}
    model, inputs, out, found_file = (os.path.join(work, name) for name in
                                      ["model.mlir", "in.npz", "out", "out.npz"])
    with open(model, "w") as file:
        file.write(PROGRAM.format(dot=DOT, w1=w1.astype(float).tolist(), b1=b1.astype(float).tolist(),
                                  w2=w2.astype(float).tolist()))
    np.savez(inputs, x=x.astype(np.float32))
    for plan in PLANS:
        shutil.rmtree(out, ignore_errors=True)
        call("cleave", "compile", model, "-o", out, *plan.split())
        call("cleave", "run", out, "--loopback", "--input", inputs, "--output", found_file)
        found = np.load(found_file)
        for name, value in expected.items():
            if not np.array_equal(found[name], value):
                sys.exit(f"plan '{plan}', output '{name}':\n{found[name]}\nexpected\n{value}")
        print(f"equal: plan '{plan}'", flush=True)


main(sys.argv[1])
