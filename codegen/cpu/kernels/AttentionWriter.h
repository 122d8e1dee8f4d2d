//===- AttentionWriter.h - the parts of the attention template ------------===//
//
// AttentionKernel.cpp has the algorithm and its description, AttentionPack.cpp
// the packing of keys and values and the memory accesses.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_CPU_KERNELS_ATTENTIONWRITER_H
#define CLEAVE_CODEGEN_CPU_KERNELS_ATTENTIONWRITER_H

#include "codegen/cpu/kernels/Templates.h"

namespace cleave {

inline constexpr int64_t TileRows = 6, TileVectors = 4;
inline constexpr int64_t LongestBlock = 1024, ShortBlock = 512,
                         TilesInChunk = 32;

/// The queries of a tile and the keys of a block, at run time.
struct Tile {
  int64_t rows; ///< static
  mlir::Value batch, head;
  mlir::Value row;      ///< first query
  mlir::Value firstKey; ///< of the block
  mlir::Value keys;     ///< keys of the block that some query of the tile sees
  mlir::Value stateRow; ///< first row of the tile in the kept state
};

class AttentionWriter {
public:
  AttentionWriter(Template &kernel, AttentionOp op)
      : kernel(kernel), op(op), code(kernel.code) {}
  mlir::FailureOr<KernelPlan> write();

private:
  using Values = Code::Values;

  mlir::LogicalResult verify();
  void findSizes();
  View makeScratch(int64_t rows, int64_t columns);

  void writeItem(mlir::Value item);
  void forTiles(mlir::Value chunk, Tile tile,
                llvm::function_ref<void(Tile)> body);
  void setKeys(Tile &tile);

  void pack(mlir::Value batch, mlir::Value group, mlir::Value firstKey);
  void packKeys(const View &keys, mlir::Value firstKey, mlir::Value key,
                bool isTail);
  void packValues(const View &values, mlir::Value firstKey, mlir::Value count);

  void writeTile(const Tile &tile);
  Values writeScores(const Tile &tile);
  Values writeScores(const Tile &tile, mlir::Value key, int64_t vectors,
                     mlir::ValueRange largest);
  mlir::Value finishScore(const Tile &tile, int64_t row, mlir::Value key,
                          mlir::Value score);
  Values writePowers(const Tile &tile, mlir::ValueRange largest);
  void writeProducts(const Tile &tile, mlir::ValueRange sums,
                     mlir::ValueRange decays);

  void startState(const Tile &tile);
  void finishState(const Tile &tile);
  void storeResult(const Tile &tile, int64_t row, int64_t vector,
                   mlir::Value value, mlir::Value sum);

  mlir::Value at(const View &view, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value loadVector(const View &view, mlir::Value row, mlir::Value column);
  void storeVector(mlir::Value value, const View &view, mlir::Value row,
                   mlir::Value column);
  mlir::Value splatOf(const View &view, llvm::ArrayRef<mlir::Value> indices);
  mlir::Value zero() { return code.constant(code.vectorOf(f32), 0.0); }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value reduce(mlir::Value vector, bool isSum);
  mlir::Value inverse(mlir::Value x);

  Template &kernel;
  AttentionOp op;
  Code &code;
  mlir::Type f32;
  View q, k, v, mask, result;
  int64_t batches, heads, groups, queries, keys, depth, width;
  int64_t blockKeys, blocks, chunkTiles, tiles, chunks;
  bool hasMask, isStatic; ///< static: each tile sees all keys, in one block
  View packedKeys, packedValues, padding, scores; ///< scratch
  View state, stateLargest, stateSum;             ///< of a chunk's rows
  int64_t scratchBytes = 0;
};

/// The view with the first two indices fixed.
View fixed(Code &code, const View &view, mlir::Value first, mlir::Value second);

} // namespace cleave

#endif
