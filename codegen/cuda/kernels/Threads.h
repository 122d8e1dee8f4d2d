//===- Threads.h - threads, teams and shared memory of a kernel -----------===//
//
// Grids and blocks are one-dimensional; their sizes are known while a kernel is
// written. A team is a power of two of neighbouring threads that fold one row
// together: part of a warp, a warp, or a block.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CUDA_KERNELS_THREADS_H
#define CLEAVE_CODEGEN_CUDA_KERNELS_THREADS_H

#include "codegen/kernels/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cleave::cuda {

inline constexpr int64_t WarpSize = 32;
/// Threads of a block where a kernel has no reason for another number.
inline constexpr int64_t BlockSize = 256;
/// Blocks that fill any device; more would only wait.
inline constexpr int64_t MostBlocks = 2112;

/// Number of the thread in its block, and of the block, as i64 that are known
/// to be small.
mlir::Value getThread(Code &);
mlir::Value getBlock(Code &);
/// Waits for all threads of the block.
void makeBarrier(Code &);

/// Address of shared memory for `count` elements, aligned to 16 bytes.
mlir::Value makeShared(Code &, mlir::Type memory, int64_t count);

/// The value of the thread whose number differs in the bits of `mask`; scalars
/// of 1 to 8 bytes. All threads of the warp take part.
mlir::Value shuffleXor(Code &, mlir::Value value, int64_t mask);

/// Calls `body(item)` for the items of [0, extent) that this thread has among
/// `threads`, of which it is number `self`; `self` < threads.
void forItems(Code &, mlir::Value self, int64_t threads, int64_t extent,
              llvm::function_ref<void(mlir::Value)> body);

/// A team's place in its block.
class Team {
public:
  /// `size`: a power of two that divides the block's.
  Team(Code &code, int64_t size, int64_t block);

  /// Folds a scalar of each thread, in an order that depends on the size only;
  /// all threads get the result. All threads of the block take part.
  mlir::Value
  fold(mlir::Value value,
       llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

  const int64_t size;
  const int64_t perBlock; ///< teams of a block
  mlir::Value self;       ///< number of the thread in its team
  mlir::Value number;     ///< number of the team in its block

private:
  Code &code;
};

/// The least power of two that is not below `value`.
int64_t roundToPower(int64_t value);

} // namespace cleave::cuda

#endif
