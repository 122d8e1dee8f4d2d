//===- Passes.td - fuse phase ---------------------------------------------===//
#ifndef CLEAVE_PASSES_FUSE_PASSES
#define CLEAVE_PASSES_FUSE_PASSES

include "mlir/Pass/PassBase.td"

def WidenProductsPass : Pass<"cleave-widen-products", "::mlir::ModuleOp"> {
  let summary = "rewrites products that no library call or kernel has";
  let description = [{
    Products, convolutions and attention of f16 and bf16 are computed in f32, unless
    the libraries have them (`narrow`); a product of f64 or integers becomes a
    reduction. Attention of f64, and every gradient of attention, becomes products and
    a softmax.

    ```mlir
    %p = cleave.dot %x, %w {...} : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf16>
    ```
    becomes
    ```mlir
    %a = cleave.cast %x : (tensor<4x8xf16>) -> tensor<4x8xf32>
    %b = cleave.cast %w : (tensor<8x6xf16>) -> tensor<8x6xf32>
    %c = cleave.dot %a, %b {...} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %p = cleave.cast %c : (tensor<4x6xf32>) -> tensor<4x6xf16>
    ```
  }];
  let options = [
    Option<"narrow", "narrow", "bool", "false",
           "keep products of f16 and bf16: the libraries have them">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def FormKernelsPass : Pass<"cleave-form-kernels", "::mlir::ModuleOp"> {
  let summary = "groups the local ops of rank programs into kernels";
  let description = [{
    Every op that computes or moves elements becomes part of exactly one
    `cleave.kernel`; what needs no code (load, store, constant, axis_index, views)
    and collectives stay between. Grouping.h has the rules.

    ```mlir
    %p = cleave.dot %x, %w {...} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %b = cleave.broadcast %bias {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
    %s = cleave.binary add %p, %b : tensor<4x6xf32>
    %y = cleave.unary gelu_erf %s : tensor<4x6xf32>
    ```
    becomes
    ```mlir
    %y = cleave.kernel matmul(%x, %w, %bias) : (...) -> tensor<4x6xf32> {
    ^bb0(%arg0: tensor<4x8xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<6xf32>):
      %p = cleave.dot %arg0, %arg1 {...} : ...
      %b = cleave.broadcast %arg2 {dims = array<i64: 1>} : ...
      %s = cleave.binary add %p, %b : tensor<4x6xf32>
      %y = cleave.unary gelu_erf %s : tensor<4x6xf32>
      cleave.yield %y : tensor<4x6xf32>
    }
    ```
  }];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

#endif
