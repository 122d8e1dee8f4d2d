//===- ValueSharding.h - shardings of values, meshes of stages ------------===//
//
// Where logical IR keeps a value's sharding (an attribute of the op or of the
// function argument), when two shardings lay a tensor out alike, and which mesh
// a stage owns. Shared by the passes of this room and by verifiers.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PARTITION_VALUESHARDING_H
#define CLEAVE_PASSES_PARTITION_VALUESHARDING_H

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cleave {

/// The sharding that a value carries; null when it has none.
ShardingAttr getSharding(mlir::Value value);
void setSharding(mlir::Value value, ShardingAttr sharding);

/// The same layout on another mesh.
ShardingAttr withMesh(ShardingAttr sharding, mlir::FlatSymbolRefAttr mesh);

/// The sharding without axes of size 1, which split nothing.
ShardingAttr withoutUnitAxes(ShardingAttr sharding, MeshAttr mesh);

/// Whether every rank holds the same elements under both: same mesh, axes and
/// chunks (blocks may differ: 6 heads of 64 over 2 ranks are 192 either way).
bool haveSameLayout(ShardingAttr a, ShardingAttr b, mlir::RankedTensorType type,
                    MeshAttr mesh);

/// Whether the value is split by micro-batches: each has a part of it.
bool isPerMicroBatch(ShardingAttr sharding);

/// How an input lies in memory: micro-batches come one after the other, but the
/// input is there as a whole, so each dim keeps only the axes before "mb".
ShardingAttr getStorage(ShardingAttr sharding);

/// The meshes of a module and the stages that own them. Stage K owns the mesh
/// `@stageK`; a single mesh of any name is that of stage 0.
class MeshTable {
public:
  explicit MeshTable(mlir::ModuleOp module);

  /// Shape of a mesh; null when there is none of this name.
  MeshAttr get(mlir::FlatSymbolRefAttr mesh) const;
  /// Mesh of a stage; null when the stage owns none.
  mlir::FlatSymbolRefAttr getOfStage(int64_t stage) const;
  /// Stage that owns a mesh; -1 when none does.
  int64_t getStage(mlir::FlatSymbolRefAttr mesh) const;
  /// Stages 0 .. n-1 that own a mesh.
  int64_t getNumStages() const { return stages.size(); }

private:
  llvm::SmallVector<mlir::FlatSymbolRefAttr> stages;
  llvm::SmallVector<std::pair<mlir::StringAttr, MeshAttr>> meshes;
};

/// The stage attribute of an op; 0 when it has none.
int64_t getStage(mlir::Operation *op);

/// Marks `to` as part of the backward pass (`cleave.origin`) if `from` is.
void copyOrigin(mlir::Operation *from, mlir::Operation *to);

/// The function of the logical program; null, with an error, when it is
/// missing.
mlir::func::FuncOp getMain(mlir::ModuleOp module);

/// Shape of the mesh that a sharding names; an error at `op` when there is
/// none.
mlir::FailureOr<MeshAttr> getMesh(const MeshTable &meshes,
                                  ShardingAttr sharding, mlir::Operation *op);

} // namespace cleave

#endif
