//===- LocalBuilder.h - builds ops of a rank program ----------------------===//
//
// What several parts of global-to-local need: local tensors with what is known
// of their padding, this rank's index along axes (made once a function), masks,
// and the step from one sharding of a value to another.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PARTITION_LOCALBUILDER_H
#define CLEAVE_PASSES_PARTITION_LOCALBUILDER_H

#include "passes/partition/Padding.h"

#include "ir/Cleave.h"

namespace cleave {

/// A value of a rank program and what is known of its padding.
struct LocalTensor {
  mlir::Value value;
  PaddingFacts facts;
};

class LocalBuilder {
public:
  /// Builds at the end of `block`, the body of a function on `mesh`.
  LocalBuilder(mlir::Block *block, mlir::FlatSymbolRefAttr meshName,
               MeshAttr mesh)
      : block(block), meshName(meshName), mesh(mesh),
        builder(mlir::OpBuilder::atBlockEnd(block)) {}

  mlir::OpBuilder &get() { return builder; }
  MeshAttr getMesh() const { return mesh; }
  mlir::FlatSymbolRefAttr getMeshName() const { return meshName; }

  /// This rank's index along the axes, outer first; made once, at the top.
  mlir::Value getAxisIndex(llvm::ArrayRef<mlir::StringAttr> axes);

  /// `x` with the padding of `dim` (of true size `size`) replaced by `fill`.
  /// The same mask of the same value is made once.
  mlir::Value getMasked(mlir::Location loc, mlir::Value x, int64_t dim,
                        int64_t size, double fill,
                        llvm::ArrayRef<mlir::StringAttr> axes);

  /// Changes the size of a dim at its end: `value` is added or elements
  /// dropped.
  mlir::Value resizeEnd(mlir::Location loc, mlir::Value x, int64_t dim,
                        int64_t size, double value);

  /// Lays `x`, a tensor of global type `type` sharded as `from`, out as `to`.
  LocalTensor reshard(mlir::Location loc, LocalTensor x,
                      mlir::RankedTensorType type, ShardingAttr from,
                      ShardingAttr to);

private:
  mlir::Block *block;
  mlir::FlatSymbolRefAttr meshName;
  MeshAttr mesh;
  mlir::OpBuilder builder;
  llvm::SmallVector<std::pair<mlir::ArrayAttr, mlir::Value>> indices;
  mlir::Operation *lastIndex = nullptr;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<MaskOp>> masks;
};

/// The neutral element of a reduction, as masks and pads hold it.
double getNeutralValue(ReduceKind kind, mlir::Type elementType);

} // namespace cleave

#endif
