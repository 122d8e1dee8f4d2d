//===- Annotations.h - ONNX's sharding annotations, as data ---------------===//
//
// What a model's own annotations (IR 11: `ModelProto.configuration`,
// `NodeProto.device_configurations`) say of one configuration of devices. The
// importer leaves them on the module for the planner, which knows what an axis
// is; the planner describes a plan in the same form to whoever writes it back.
//
// In a module they are the attribute `cleave.annotations`:
//
//   [{configuration = "two", devices = 2 : i64,
//     placements = [{node = "fc1", tensor = "h", output, shape = array<i64: 8,
//     12>,
//                    dims = [array<i64: 1, 12, 2>],
//                    devices = [array<i64: 0>, array<i64: 1>]}],
//     stages = [{node = "fc1", stage = 0 : i64}]}]
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_ANNOTATIONS_H
#define CLEAVE_IR_ANNOTATIONS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave {

/// `blocks` equal blocks (0: not said) are divided among `shards`.
struct ShardedPart {
  int64_t blocks = 0;
  int64_t shards = 1;
};

/// A dim of a tensor. Of several parts the first is the outermost, as in a dim
/// that a reshape has flattened: 384 as 6 heads, of which each of two shards
/// has 3, of 64 elements.
struct ShardedDim {
  int64_t dim = 0;
  llvm::SmallVector<ShardedPart, 1> parts;
};

/// How one tensor lies on devices, where one node reads or makes it.
struct Placement {
  std::string node, tensor;
  bool isOutput = false;            ///< the node makes the tensor
  llvm::SmallVector<int64_t> shape; ///< of the whole tensor, in the model
  std::vector<ShardedDim> dims;     ///< ascending
  /// Devices of each shard; shards are numbered with the last dim fastest.
  std::vector<std::vector<int64_t>> devices;

  /// Product over the dims, at most 2^40.
  int64_t getShards() const;
};

struct Annotations {
  std::string configuration; ///< its name
  int64_t devices = 0;
  std::vector<Placement> placements;
  std::vector<std::pair<std::string, int64_t>> stages; ///< of nodes, by name
  /// What ONNX's fields cannot say (axes, micro-batches, partial sums), as
  /// plan.json; may be empty.
  std::string plan;
};

/// Module attribute with the annotations of each configuration.
inline constexpr llvm::StringLiteral AnnotationsAttrName = "cleave.annotations";
/// Module attribute with the shapes of the model's tensors, by name.
inline constexpr llvm::StringLiteral TensorShapesAttrName =
    "cleave.tensor_shapes";

void setAnnotations(mlir::ModuleOp module, llvm::ArrayRef<Annotations> all);
/// Those of the module; none is no error, another form than above is.
mlir::FailureOr<std::vector<Annotations>> getAnnotations(mlir::ModuleOp module);

/// The location of a value that is the model's tensor `name`: the node's, with
/// the name of the tensor below it, so that it goes wherever locations go. One
/// that names no node stays as it is.
mlir::Location addTensorName(mlir::Location loc, llvm::StringRef name);
/// The tensors that a location names.
llvm::SmallVector<llvm::StringRef, 1> getTensorNames(mlir::Location loc);

} // namespace cleave

#endif
