//===- Pins.h - decisions that the user has taken -------------------------===//
//
// `--shard GLOB=-,tp`, `--stage GLOB=K`, plan.json and the model's annotations
// all become pins: what one tensor's state on one axis may be where it is made
// and where a node reads it, and which stage a node is in. Two pins that
// contradict each other, a pattern that fits nothing, an unknown axis and a
// wrong number of dims are errors in the user's words.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_PINS_H
#define CLEAVE_PASSES_PLAN_PINS_H

#include "passes/cost/CostModel.h"
#include "passes/plan/Graph.h"
#include "passes/plan/Options.h"

#include <map>
#include <optional>

namespace cleave::plan {

/// An axis of the plan. Axes of size 1 are known, but divide nothing.
struct PlanAxis {
  std::string name;
  int64_t ranks = 1;        ///< along the axis of the mesh
  int64_t microBatches = 1; ///< before them, in time (the axis "mb")

  int64_t getSize() const { return ranks * microBatches; }
  /// Axes of the mesh that divide what this one does, outer first.
  llvm::SmallVector<std::string> getMeshAxes() const;
  /// Whether a text that names `axis` speaks of this one.
  bool isNamed(llvm::StringRef axis) const;
};

/// One dim of a layout: axes, outer first, and a block (0: not said).
struct DimText {
  std::vector<std::string> axes;
  int64_t block = 0;
};

/// A layout in text: "-,tp:64" or "-,-; sum over tp".
struct LayoutText {
  std::vector<DimText> dims;
  std::vector<std::string> partialAxes;
  ReduceKind partialKind = ReduceKind::Sum;
};

/// Parses a layout; the error says what is wrong with it.
llvm::Expected<LayoutText> parseLayout(llvm::StringRef text);
/// The text of a sharding, as parseLayout reads it.
std::string printLayout(ShardingAttr sharding);

/// What a tensor's state on one axis may be.
struct StatePin {
  std::string source; ///< who says so, for messages
  /// Split in one of these dims; empty: not split.
  llvm::SmallVector<int64_t> dims;
  int64_t block = 0; ///< 0: any
  /// From plan.json: the partial state is said too.
  bool isExact = false;
  std::optional<ReduceKind> partial;

  /// Whether a tensor of these sizes may be so. Blocks that give the same
  /// chunks on the `parts` of the axis are the same.
  bool allows(const AxisState &state, llvm::ArrayRef<int64_t> shape,
              int64_t parts) const;
};

/// Pins of one tensor, by axis name.
using AxisPins = std::map<std::string, StatePin>;

struct Pins {
  /// By tensor, then by axis name.
  std::map<size_t, AxisPins> states;
  /// What a node needs of a tensor that it reads: by node and tensor.
  std::map<std::pair<size_t, size_t>, AxisPins> uses;
  /// By node.
  std::map<size_t, int64_t> stages;

  const StatePin *find(size_t tensor, llvm::StringRef axis) const;
  const StatePin *findUse(size_t node, size_t tensor,
                          llvm::StringRef axis) const;
};

/// View dims of each dim of the user's shape; empty if the shapes have no
/// common cuts there.
llvm::SmallVector<llvm::SmallVector<int64_t>>
groupDims(llvm::ArrayRef<int64_t> trueShape, llvm::ArrayRef<int64_t> view);

/// Adds a pin of `tensor`, among those where it is made or where it is read.
/// One that is there and says something else is an error.
mlir::LogicalResult addPin(AxisPins &pins, const Graph &graph, size_t tensor,
                           llvm::StringRef axis, const StatePin &pin);

/// Whether `text` fits a pattern of *, ? and plain characters.
bool matchesGlob(llvm::StringRef pattern, llvm::StringRef text);

/// Adds a layout as pins of one tensor on all axes.
mlir::LogicalResult pinTensor(Pins &pins, const Graph &graph, size_t tensor,
                              const LayoutText &layout,
                              llvm::ArrayRef<PlanAxis> axes,
                              llvm::StringRef source, bool isExact);
mlir::LogicalResult pinStage(Pins &pins, const Graph &graph, size_t node,
                             int64_t stage, int64_t stages,
                             llvm::StringRef source);
/// Adds the pins of `--shard` and `--stage`.
mlir::LogicalResult readPatterns(Pins &pins, const Graph &graph,
                                 const PlanOptions &options, int64_t stages,
                                 llvm::ArrayRef<PlanAxis> axes);

} // namespace cleave::plan

#endif
