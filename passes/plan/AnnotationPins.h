//===- AnnotationPins.h - the model's own annotations as pins -------------===//
//
// Annotations say which devices hold which shard; a plan says which axis splits
// which dim. Devices are ranks: those of stage s of a plan of dp x tp ranks a
// stage are s dp tp + d tp + t. For each way to divide the ranks, a placement
// is kept by the axes that give every device the shard that it names, and by
// none else: then the way cannot be, with the node and the tensor as the
// reason.
//
// A placement of what a node makes pins the value where it is made. One of what
// it reads pins what the node needs, if that is not how the tensor is made;
// inputs and parameters are stored as their readers say, if these agree.
// Tensors that are no values of the program any more (they are inside of a
// fused operation) bind nothing, which is said once.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_ANNOTATIONPINS_H
#define CLEAVE_PASSES_PLAN_ANNOTATIONPINS_H

#include "ir/Annotations.h"
#include "passes/plan/Pins.h"

namespace cleave::plan {

/// A placement, with what it speaks of in a graph.
struct ResolvedPlacement {
  Placement placement;
  size_t tensor;
  llvm::SmallVector<size_t>
      nodes; ///< of the annotated one: what makes or reads it
};

struct ResolvedAnnotations {
  std::string configuration;
  std::vector<ResolvedPlacement> placements;
  std::vector<std::pair<size_t, int64_t>> stages; ///< of nodes, from 0
  int64_t stageCount = 0;                         ///< 0: not said
};

/// The annotations to keep to: of the configuration that the options name, else
/// of one for as many ranks as will run. None if the module has none, a plan is
/// given, or (after a warning) all are for other numbers of ranks.
mlir::FailureOr<std::optional<Annotations>>
chooseAnnotations(mlir::ModuleOp module, const PlanOptions &options,
                  const std::optional<Cluster> &cluster);

/// Finds the tensors and nodes of the annotations; warns of those that are not
/// there.
mlir::FailureOr<ResolvedAnnotations>
resolveAnnotations(const Graph &graph, Annotations annotations);

/// Adds the pins for one way to divide the ranks.
mlir::LogicalResult pinAnnotations(Pins &pins, const Graph &graph,
                                   const ResolvedAnnotations &annotations,
                                   int64_t stages,
                                   llvm::ArrayRef<PlanAxis> axes);

/// The tensor of the graph that is the model's `name` of this shape, perhaps
/// with dims unflattened.
std::optional<size_t> findTensor(const Graph &graph, llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace cleave::plan

namespace cleave {

/// The plan of a planned module as annotations of configuration `name`, for a
/// module that has TensorShapesAttrName. What no node makes has a placement
/// without a node.
mlir::FailureOr<Annotations> describePlan(mlir::ModuleOp module,
                                          llvm::StringRef name);

} // namespace cleave

#endif
