//===- RankModule.h - what a module says about ranks and programs ---------===//
//
// A plain summary of a module after the memory phase: the world, the mesh axes,
// groups of collectives, routes of sends, and for each stage function the
// tensors that it reads and writes. The manifest is a print of it; code
// generation takes indexes from it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_RANKMODULE_H
#define CLEAVE_CODEGEN_RANKMODULE_H

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace cleave {

/// A whole tensor as the user knows it.
struct UserTensor {
  std::string name;
  mlir::RankedTensorType type;
};

/// An input or output of a stage function.
struct ProgramTensor {
  int64_t index; ///< into RankModule::inputs or outputs
  mlir::RankedTensorType localType;
  ShardingAttr sharding; ///< null: whole on every rank
};

/// A parameter in the form in which a stage keeps it.
struct ProgramState {
  /// In weights files: the symbol, or where another bucket keeps other bytes
  /// under that name, the symbol and the bucket's number.
  std::string name;
  ParamOp param;
  mlir::RankedTensorType localType;
  bool isMutable = false;
};

struct Program {
  std::string name;
  mlir::func::FuncOp function;
  MeshAttr mesh;
  /// Mesh axis -> index into RankModule::axes.
  llvm::SmallVector<int64_t> axes;
  llvm::SmallVector<ProgramTensor> inputs, outputs;
  llvm::SmallVector<ProgramState> states;

  /// Index into `states`, or -1.
  int64_t getStateIndex(llvm::StringRef symbol) const;
};

/// An axis of the world: axes of one name and different sizes are two.
struct WorldAxis {
  std::string name;
  int64_t size;
  bool operator==(const WorldAxis &) const = default;
};

/// Where a rank stands: its program and its coordinates along all axes.
struct RankPlace {
  int64_t program = -1;
  llvm::SmallVector<int64_t> coords;
};

/// Disjoint lists of ranks that work together.
using RankGroup = llvm::SmallVector<llvm::SmallVector<int64_t>>;
/// from, to, from, to, ...
using Route = llvm::SmallVector<int64_t>;
/// from, to, tag: what tells messages apart.
using Channel = std::array<int64_t, 3>;

struct RankModule {
  llvm::SmallVector<WorldAxis> axes;
  llvm::SmallVector<UserTensor> inputs, outputs;
  std::vector<Program> programs;
  llvm::SmallVector<RankPlace> ranks;
  llvm::SmallVector<RankGroup> groups;
  llvm::SmallVector<Route> routes;
  llvm::SmallVector<Channel> channels;

  int64_t getWorld() const { return ranks.size(); }
  /// Index of the axis of `program`'s mesh at `position`.
  int64_t getGroup(MeshAttr mesh, mlir::ArrayAttr axes) const;
  int64_t getRoute(llvm::ArrayRef<int64_t> pairs) const;
};

/// Lists of ranks along `axes` (outer first) of a mesh, one list for each
/// combination of the other coordinates.
RankGroup listGroup(MeshAttr mesh, mlir::ArrayAttr axes);

/// How a dim of a shard lies in the whole tensor: [start, start + valid), the
/// rest of the local dim is padding.
struct DimRange {
  int64_t start, valid;
};

/// Range of every dim of a tensor of `shape` for the rank at `position` of the
/// mesh. A null sharding is the whole tensor.
llvm::SmallVector<DimRange> getShardRange(llvm::ArrayRef<int64_t> shape,
                                          ShardingAttr sharding, MeshAttr mesh,
                                          int64_t position);

/// Reads the modules of all buckets, which share one set of tables: axes,
/// groups, routes and channels; states that are equal have one name. Fails with
/// a located error where a module is not what the memory phase leaves, or the
/// buckets are for different numbers of ranks.
[[nodiscard]] mlir::FailureOr<std::vector<RankModule>>
readRankModules(llvm::ArrayRef<mlir::ModuleOp> modules);

} // namespace cleave

#endif
