//===- Candidates.h - plans of different sizes, compared ------------------===//
//
// Each way to divide the ranks is planned to the end: stages, then axis by
// axis. One that cannot be keeps its reason. The choice is the least predicted
// time, of about equal ones what communicates least; a plan along whose tp axis
// nothing is split comes after all others.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_CANDIDATES_H
#define CLEAVE_PASSES_PLAN_CANDIDATES_H

#include "passes/plan/AnnotationPins.h"
#include "passes/plan/Decisions.h"
#include "passes/plan/Sizes.h"

#include <memory>

namespace cleave::plan {

struct Candidate {
  size_t number = 0; ///< of equal candidates the first wins
  PlanSizes sizes;
  std::string refusal; ///< why it cannot be; empty if it can
  bool isIdle = false; ///< ranks of tp all do the same
  Prediction prediction;

  /// Whether it is preferred to `other`.
  bool operator<(const Candidate &other) const;
};

/// What all candidates share.
struct PlanRequest {
  PlanOptions options;
  std::optional<PlanFile> file;
  std::optional<ResolvedAnnotations> annotations;
  Cluster cluster;
  /// The number of ranks was said, or the machines.
  bool knowsRanks = false;
};

/// A plan with the graph that it speaks of.
struct Planned {
  explicit Planned(Graph staged) : graph(std::move(staged)), decisions(graph) {}
  Planned(const Planned &) = delete;

  /// Whether the ranks of tp all do the same.
  bool isIdle() const;

  Graph graph;
  Decisions decisions;
  Prediction prediction;
};

class Planning {
public:
  Planning(const Graph &graph, const PlanRequest &request)
      : graph(graph), request(request), costs(request.cluster) {}

  /// Plans one way to divide the ranks; every failure has a diagnostic.
  mlir::FailureOr<std::unique_ptr<Planned>> plan(const PlanSizes &sizes);
  /// The same with quick searches, for the candidate's prediction alone; what
  /// goes wrong becomes its refusal.
  void tryPlan(Candidate &candidate, const SolverOptions &quick);

  const CostModel &getCosts() const { return costs; }

private:
  mlir::FailureOr<Graph> cutStages(const Pins &pins, int64_t stages);
  mlir::LogicalResult searchAxes(Planned &planned, const Pins &pins,
                                 llvm::ArrayRef<PlanAxis> axes,
                                 Objective objective);
  mlir::FailureOr<std::unique_ptr<Planned>>
  planFor(const PlanSizes &sizes, const Graph &cut, const Pins &pins,
          llvm::ArrayRef<PlanAxis> axes, Objective objective);

  const Graph &graph;
  const PlanRequest &request;
  CostModel costs;
  SolverOptions solver;
  std::map<int64_t, Graph> staged; ///< by number of stages
};

} // namespace cleave::plan

#endif
