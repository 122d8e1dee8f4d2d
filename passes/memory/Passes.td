//===- Passes.td - memory phase -------------------------------------------===//
#ifndef CLEAVE_PASSES_MEMORY
#define CLEAVE_PASSES_MEMORY

include "mlir/Pass/PassBase.td"

def ResolveViewsPass : Pass<"cleave-resolve-views", "::mlir::ModuleOp"> {
  let summary = "makes every view one that strides can express, by copies where it is not";
  let description = [{
    Outside kernels, reshape, transpose, slice and broadcast move nothing: they
    are views of their source. This pass picks the order in which attention and
    loop kernels store their results, so that transposes vanish, and adds a copy
    kernel where strides cannot say what is needed: a reshape across a transpose,
    an operand that a library or collective needs dense, a result of the program
    that is not a kernel's own.

    Before (attention gives [B, H, S, E], the product wants [B, S, H * E]):
    ```mlir
    %a = cleave.kernel attention(...) : (...) -> tensor<1x6x197x64xf32> {...}
    %t = cleave.transpose %a {perm = array<i64: 0, 2, 1, 3>} : ...
    ```
    After: the kernel stores its result in the order of the transpose.
    ```mlir
    %a = cleave.kernel attention(...) {cleave.orders = [array<i64: 0, 2, 1, 3>]} : ...
    ```
  }];
  let options = [
    Option<"channelsLast", "channels-last", "bool", "true",
           "convolutions store their channels last, and what follows them does">,
  ];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def FormPreparePass : Pass<"cleave-form-prepare", "::mlir::ModuleOp"> {
  let summary = "moves what depends on constant states alone in front of the first step";
  let description = [{
    Kernels whose operands come from states that no step writes give the same in every
    step: they go into one `cleave.prepare`, which runs once. Its results are kept, so a
    kernel stays in the step when it gives more elements than the states that it
    reads have, or an output.

    Before:
    ```mlir
    %w = cleave.load @w : tensor<8x6xf16>
    %k = cleave.kernel loop(%w) : (tensor<8x6xf16>) -> tensor<8x6xf32> {...}
    %p = cleave.kernel matmul(%x, %k) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {...}
    ```
    After:
    ```mlir
    %k = cleave.prepare : tensor<8x6xf32> {
      %w = cleave.load @w : tensor<8x6xf16>
      %0 = cleave.kernel loop(%w) : (tensor<8x6xf16>) -> tensor<8x6xf32> {...}
      cleave.yield %0 : tensor<8x6xf32>
    }
    %p = cleave.kernel matmul(%x, %k) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {...}
    ```
  }];
  let dependentDialects = ["::cleave::CleaveDialect"];
}

def PadRowsPass : Pass<"cleave-pad-rows", "::mlir::ModuleOp"> {
  let summary = "stores rows that products read a little apart, where caches would mix them up";
  let description = [{
    Rows that lie a multiple of 1 KiB apart collide in a first-level cache when a product
    goes through a column of them. A kernel leaves 64 bytes behind each such row of a
    result that is a product or that one reads, when all that read it take any
    strides. What is added to a product is padded with it, or both are not.

    After:
    ```mlir
    %h = cleave.kernel loop(%x) {cleave.row_padding = array<i64: 16>} : ... -> tensor<2048x1024xf32>
    %w = cleave.kernel matmul(%h, %dy) : ...
    ```
  }];
}

def AssignBuffersPass : Pass<"cleave-assign-buffers", "::mlir::ModuleOp"> {
  let summary = "gives every value of a rank program its place in memory";
  let description = [{
    Writes `cleave.buffers` on ops, `cleave.buffer` on arguments and results, and
    `cleave.arena_bytes` on the function, beside `cleave.live_bytes`, the most bytes
    that live at one time: the arena cannot be smaller. Values whose lives do not overlap share
    bytes of the arena; an all-reduce works in place when its operand dies there,
    and so does a loop kernel that reads an operand element by element, and a
    convolution to which an operand is added. A kernel whose result is stored to a state
    writes it there at once, when it is the last that reads the old value, and does so
    element by element.

    After:
    ```mlir
    %k = cleave.kernel loop(%x) {cleave.buffers = [#cleave.buffer<arena 0, 64, [8, 1]>], ...}
    ```
  }];
  let options = [
    Option<"reuse", "reuse", "bool", "true",
           "share bytes between values that do not live at the same time">,
    Option<"addInPlace", "add-in-place", "bool", "true",
           "a convolution may overwrite an operand that is added to it">,
  ];
}

#endif
