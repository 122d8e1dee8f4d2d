//===- Passes.td - from a logical program to a cleaner one ----------------===//
#ifndef CLEAVE_PASSES_NORMALIZE_PASSES
#define CLEAVE_PASSES_NORMALIZE_PASSES

include "mlir/Pass/PassBase.td"

def SimplifyPass : Pass<"cleave-simplify", "::mlir::ModuleOp"> {
  let summary = "removes spellings that say the same thing";
  let description = [{
    Identities (x * 1, x + 0), powers as products, division by a constant as a
    product, division by a root as rsqrt, constant gathers as slices, broadcasts of
    broadcasts; reshapes that only add or drop dims of size 1 sink below elementwise
    ops; elementwise ops of repeated values run before the repetition; a transpose of
    a weight becomes a choice of the product's dims.

    ```mlir
    %s = cleave.unary sqrt %v : tensor<4xf32>
    %k = cleave.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
    %b = cleave.broadcast %k {dims = array<i64: 0, 1>} : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %y = cleave.binary div %x, %b : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %s = cleave.unary rsqrt %v : tensor<4xf32>
    %b = cleave.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %y = cleave.binary mul %x, %b : tensor<4x8xf32>
    ```
  }];
}

def RaiseGeluPass : Pass<"cleave-raise-gelu", "::mlir::ModuleOp"> {
  let summary = "recognises gelu (by erf and by tanh) and silu";
  let description = [{
    Needs a simplified program. The constants may be anywhere in the products; they
    must have their values to 1e-6 (or to the precision of a shorter type).

    ```mlir
    %a = cleave.binary mul %x, %sqrt_half : tensor<4xf32>
    %e = cleave.unary erf %a : tensor<4xf32>
    %g = cleave.binary add %e, %one : tensor<4xf32>
    %m = cleave.binary mul %x, %g : tensor<4xf32>
    %y = cleave.binary mul %m, %half : tensor<4xf32>
    ```
    becomes
    ```mlir
    %y = cleave.unary gelu_erf %x : tensor<4xf32>
    ```
  }];
}

def RaiseNormPass : Pass<"cleave-raise-norm", "::mlir::ModuleOp"> {
  let summary = "recognises layer norm and root-mean-square norm over trailing dims";
  let description = [{
    Needs a simplified program. A scale or bias that is repeated over the leading
    dims becomes an operand of the norm.

    ```mlir
    %q = cleave.binary mul %x, %x : tensor<4x8xf32>
    %s = cleave.reduce sum %q {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
    %m = cleave.binary mul %s, %eighth : tensor<4xf32>
    %v = cleave.binary add %m, %epsilon : tensor<4xf32>
    %r = cleave.unary rsqrt %v : tensor<4xf32>
    %b = cleave.broadcast %r {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %y = cleave.binary mul %x, %b : tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %y = cleave.norm rms %x {axis = 1 : i64, epsilon = 1.0e-5 : f64, ...} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
}

def UnflattenHeadsPass : Pass<"cleave-unflatten-heads", "::mlir::ModuleOp"> {
  let summary = "makes dims that a product flattens dims of the product";
  let description = [{
    A reshape that splits dims moves up into the product and its weights; one that
    joins dims moves down, or into the contracting dims. A symbol with one load gets
    the new shape and keeps the user's as `true_shape`; other loads are reshaped.

    ```mlir
    cleave.param @w : tensor<8x6xf32>
    %w = cleave.load @w : tensor<8x6xf32>
    %y = cleave.dot %x, %w {...} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %h = cleave.reshape %y : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
    ```
    becomes
    ```mlir
    cleave.param @w : tensor<8x2x3xf32> {true_shape = array<i64: 8, 6>}
    %w = cleave.load @w : tensor<8x2x3xf32>
    %h = cleave.dot %x, %w {...} : (tensor<4x8xf32>, tensor<8x2x3xf32>) -> tensor<4x2x3xf32>
    ```
  }];
}

def RaiseAttentionPass : Pass<"cleave-raise-attention", "::mlir::ModuleOp"> {
  let summary = "recognises softmax(scale * q k^T + mask) v";
  let description = [{
    Needs a simplified program. The scale may stand on q, on k, on both or on the
    scores. A mask that is known to be lower triangular becomes `causal`; keys and
    values that are repeated for groups of heads are read without the repetition.

    ```mlir
    %s = cleave.dot %q, %k {...} : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x4xf32>
    %t = cleave.binary mul %s, %scale : tensor<1x2x4x4xf32>
    %p = cleave.softmax %t {dim = 3 : i64} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
    %y = cleave.dot %p, %v {...} : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    ```
    becomes
    ```mlir
    %y = cleave.attention %q, %k, %v {scale = 0.5 : f64}
       : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32>
    ```
  }];
}

#endif
