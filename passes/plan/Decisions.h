//===- Decisions.h - a plan on its way into attributes --------------------===//

#ifndef CLEAVE_PASSES_PLAN_DECISIONS_H
#define CLEAVE_PASSES_PLAN_DECISIONS_H

#include "passes/plan/Prediction.h"

namespace cleave::plan {

class Decisions {
public:
  explicit Decisions(const Graph &graph) : graph(graph), local(graph) {}

  /// One mesh per stage. Ranks are numbered by stage, then dp, then tp; axes of
  /// size 1 are left out.
  void setMeshes(llvm::ArrayRef<PlanAxis> axes, int64_t stages);
  llvm::ArrayRef<MeshAttr> getMeshes() const { return meshes; }
  LocalGraph &getLocal() { return local; }
  const LocalGraph &getLocal() const { return local; }
  void addReport(AxisReport report) { reports.push_back(std::move(report)); }
  llvm::ArrayRef<AxisReport> getReports() const { return reports; }

  /// Writes meshes, shardings, stages and predictions as attributes.
  void write(const Prediction &prediction);

private:
  mlir::FlatSymbolRefAttr getMesh(int64_t stage) const;
  ShardingAttr getSharding(size_t tensor) const;
  void writeMeshes();
  void writeOps();
  void writeLoads();
  void writeFunction();
  void writePredictions(const Prediction &prediction);

  const Graph &graph;
  LocalGraph local;
  llvm::SmallVector<PlanAxis> axes; ///< larger than 1
  int64_t microBatches = 1;
  llvm::SmallVector<MeshAttr> meshes;
  std::vector<AxisReport> reports;
};

} // namespace cleave::plan

#endif
