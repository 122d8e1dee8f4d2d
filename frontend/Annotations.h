//===- Annotations.h - ONNX's sharding annotations, in and out ------------===//
//
// IR 11: `ModelProto.configuration` declares sets of devices, and
// `NodeProto.device_configurations` says for a node how its tensors lie on them
// and which pipeline stage it is in. They are hints that ONNX's checker does
// not look at, so all of it is checked here, in words of nodes and tensors.
//
// Semantics: https://github.com/onnx/onnx/blob/main/docs/proposals
// (ONNXMultiDeviceProposal.md, ShardingFormalism.md).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_ANNOTATIONS_H
#define CLEAVE_FRONTEND_ANNOTATIONS_H

#include "frontend/BindDims.h"
#include "frontend/Import.h"
#include "frontend/Load.h"
#include "ir/Annotations.h"

namespace cleave {

/// Sizes of a tensor of the model; none if it has no such tensor.
using ShapeLookup =
    llvm::function_ref<std::optional<llvm::SmallVector<int64_t>>(
        const std::string &)>;

/// Whether the model declares a configuration, or a node names one.
bool hasAnnotations(const LoadedModel &model);

/// Puts the annotations of all configurations (or of the one that the options
/// name) on the module. Unknown tensors, axes and devices out of range, and
/// numbers of shards that do not multiply to the devices are errors.
[[nodiscard]] mlir::LogicalResult
importAnnotations(mlir::ModuleOp module, const LoadedModel &model,
                  const ImportOptions &options, const DimSizes &sizes,
                  ShapeLookup lookup);

/// The bytes of a copy of the model at `path` with `plan` as its annotations;
/// another configuration of that name is replaced. A placement that is no
/// output holds for every node that reads the tensor. Weights stay where they
/// are: where these are files, `output`, for which the bytes are, has to be in
/// the folder of the model.
mlir::FailureOr<std::string> annotateModel(mlir::MLIRContext *context,
                                           llvm::StringRef path,
                                           llvm::StringRef output,
                                           const Annotations &plan);

/// Where ModelProto.metadata_props has what annotations cannot say.
std::string getPlanKey(llvm::StringRef configuration);

} // namespace cleave

#endif
