//===- AxisProblem.h - the choices of one axis as an optimisation problem -===//
//
// See AxisSearch.h for the variables and costs.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_AXISPROBLEM_H
#define CLEAVE_PASSES_PLAN_AXISPROBLEM_H

#include "passes/plan/AxisSearch.h"
#include "passes/plan/Solver.h"
#include "passes/plan/Strategies.h"

namespace cleave::plan {

class AxisProblem {
public:
  AxisProblem(const Graph &graph, const LocalGraph &local,
              const CostModel &costs, const Pins &pins,
              const AxisOptions &axis);

  /// Poses the problem; fails where a pin leaves a tensor or node no choice.
  mlir::LogicalResult build();
  const Problem &get() const { return problem; }

  const Strategy &getStrategy(size_t node, const Solution &solution) const;
  /// The state that a tensor is made in.
  AxisState getState(size_t tensor, const Solution &solution) const;
  /// Visits the conversions that are paid, in program order of the tensors.
  void forEachConversion(
      const Solution &solution,
      llvm::function_ref<void(size_t tensor, const AxisState &from,
                              const AxisState &to)>
          visit) const;

private:
  /// The forms in which a tensor is at hand: as made, and as converted once.
  struct Forms {
    AxisState made, converted;
  };
  /// The variable whose values decide the forms of a tensor.
  struct Source {
    size_t variable = 0;
    std::vector<Forms> forms; ///< one per value
  };

  mlir::LogicalResult addStates(size_t tensor);
  mlir::LogicalResult addNode(size_t node);
  void addPair(size_t tensor);
  void addUse(size_t tensor, size_t node);
  void addStore(const Store &store);
  void addOutput(size_t tensor);
  void addEdge(const Source &from, size_t to, size_t domain,
               llvm::function_ref<double(const Forms &, size_t)> cost);

  const StatePin *findBroken(size_t node, const Strategy &strategy) const;
  bool isPinned(size_t tensor) const;
  size_t countConsumers(size_t tensor) const;
  llvm::SmallVector<AxisState> getWanted(size_t tensor) const;
  /// States that a strategy of `node` needs of `tensor`, each once.
  llvm::SmallVector<AxisState, 2> getNeeds(size_t node, size_t tensor,
                                           const Strategy &strategy) const;
  /// Microseconds, with the penalties that steer the search.
  double getCost(size_t tensor, const AxisState &from, const AxisState &to,
                 bool crossesStage) const;
  double getCost(size_t tensor, const Forms &forms, const AxisState &to,
                 bool crossesStage) const;
  double getOutputCost(size_t tensor, const Forms &forms) const;
  double getWeightCost(size_t tensor, const AxisState &state) const;
  bool crosses(size_t tensor, size_t node) const;

  const Graph &graph;
  const LocalGraph &local;
  const CostModel &costs;
  const Pins &pins;
  const AxisOptions &axis;
  BlockTable blocks;
  std::vector<std::vector<size_t>> users;
  std::vector<bool> isOutput;
  std::vector<std::vector<Strategy>> strategies; ///< per node
  std::vector<size_t> nodeVariables;
  std::vector<Source> made;    ///< per tensor: as its producer decides
  std::vector<Source> sources; ///< per tensor: as its users see it
  Problem problem;
};

} // namespace cleave::plan

#endif
