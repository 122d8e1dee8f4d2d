//===- Planner.cpp - plans every candidate and writes the best ------------===//
//
// One candidate is planned as it is, and what is wrong with it are the errors
// of the pass. Of several, those that cannot be keep their reasons; only when
// none is left, all reasons are told.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Planner.h"

#include "ir/Figures.h"
#include "ir/ScheduleKind.h"
#include "passes/plan/CandidateTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

/// An approximate result is said, never silent.
static void remarkApproximate(ModuleOp module, const AxisReport &report) {
  if (report.isExact)
    return;
  InFlightDiagnostic diagnostic =
      module.emitRemark() << "the search along axis '" << report.name
                          << "' is approximate: its tables grew too large, so "
                          << report.fixed.size() << " choices were fixed first";
  for (const std::string &name : report.fixed)
    diagnostic.attachNote() << "fixed: " << name;
}

/// Ranks that were asked for and do nothing of their own are said, too.
static void warnIdle(ModuleOp module, const PlanSizes &sizes,
                     const Planned &planned) {
  if (!planned.isIdle())
    return;
  module.emitWarning()
      << "--tp " << sizes.tp
      << ": nothing is split along it, so its ranks all do the same; --dp "
         "divides the batch, --pp the layers";
}

static void write(ModuleOp module, Planned &planned,
                  ArrayRef<Candidate> candidates) {
  for (const AxisReport &report : planned.decisions.getReports())
    remarkApproximate(module, report);
  planned.decisions.write(candidates.front().prediction);
  writeCandidates(module, candidates);
}

static LogicalResult takeFirst(const Graph &graph, Planning &planning,
                               std::vector<Candidate> &candidates) {
  Candidate &first = candidates.front();
  FailureOr<std::unique_ptr<Planned>> planned = planning.plan(first.sizes);
  if (failed(planned))
    return failure();
  first.prediction = (*planned)->prediction;
  warnIdle(graph.module, first.sizes, **planned);
  write(graph.module, **planned, candidates);
  return success();
}

/// One error, with a note for each kind of reason.
static LogicalResult explainFailure(const Graph &graph,
                                    const PlanRequest &request,
                                    ArrayRef<Candidate> candidates) {
  constexpr size_t kMostReasons = 8;
  int64_t ranks = candidates.front().sizes.getRanks();
  InFlightDiagnostic error = graph.module.emitError()
                             << "no plan for " << formatCount(ranks, "rank");
  SmallVector<StringRef> told;
  for (const Candidate &candidate : candidates) {
    if (llvm::is_contained(told, StringRef(candidate.refusal)) ||
        told.size() == kMostReasons)
      continue;
    told.push_back(candidate.refusal);
    error.attachNote() << candidate.refusal;
  }
  if (request.annotations)
    error.attachNote() << "the model's annotations (configuration '"
                       << request.annotations->configuration
                       << "') are kept to; --ignore-annotations plans freely";
  else if (int64_t fewer = findFewerRanks(graph, request.options, ranks))
    error.attachNote() << "--ranks " << fewer << " is within these limits";
  return error;
}

/// Of candidates that take about the least time, the first is to be the one
/// that communicates least: it waits least for ranks that are late.
static void preferQuiet(std::vector<Candidate> &candidates) {
  constexpr double kAbout = 1.03;
  const Candidate &least = candidates.front();
  auto isAbout = [&](const Candidate &candidate) {
    return candidate.refusal.empty() && candidate.isIdle == least.isIdle &&
           candidate.prediction.time.getSeconds() <=
               kAbout * least.prediction.time.getSeconds();
  };
  auto end = llvm::find_if_not(candidates, isAbout);
  auto quiet = std::min_element(
      candidates.begin(), end, [](const Candidate &a, const Candidate &b) {
        auto rank = [](const Candidate &candidate) {
          return std::pair(candidate.prediction.time.communication,
                           candidate.number);
        };
        return rank(a) < rank(b);
      });
  std::rotate(candidates.begin(), quiet, std::next(quiet));
}

/// Plans all with quick searches, and the best with the time that it takes.
static LogicalResult choose(const Graph &graph, Planning &planning,
                            const PlanRequest &request,
                            std::vector<Candidate> &candidates) {
  constexpr SolverOptions kQuick = {size_t(1) << 14};
  for (Candidate &candidate : candidates)
    planning.tryPlan(candidate, kQuick);
  llvm::sort(candidates);
  Candidate &best = candidates.front();
  if (!best.refusal.empty())
    return explainFailure(graph, request, candidates);
  preferQuiet(candidates);
  return takeFirst(graph, planning, candidates);
}

/// The model's own annotations; they give the number of ranks, too.
static LogicalResult readAnnotations(const Graph &graph, PlanOptions &options,
                                     const std::optional<Cluster> &given,
                                     PlanRequest &request) {
  if (request.file && request.file->isBase)
    return success();
  FailureOr<std::optional<Annotations>> chosen =
      chooseAnnotations(graph.module, options, given);
  if (failed(chosen))
    return failure();
  if (!*chosen)
    return success();
  options.ranks = (*chosen)->devices;
  if (!(*chosen)->plan.empty()) {
    FailureOr<PlanFile> rest =
        parsePlan(graph.module.getContext(), (*chosen)->plan,
                  "configuration " + (*chosen)->configuration);
    if (failed(rest))
      return failure();
    rest->isAnnotation = true;
    if (failed(mergeSizes(graph.module, options, *rest)))
      return failure();
    request.file = std::move(*rest);
  }
  FailureOr<ResolvedAnnotations> resolved =
      resolveAnnotations(graph, std::move(**chosen));
  if (failed(resolved))
    return failure();
  request.annotations = std::move(*resolved);
  return success();
}

static LogicalResult readFile(ModuleOp module, PlanOptions &options,
                              PlanRequest &request) {
  auto base = module->getAttrOfType<StringAttr>(BasePlanAttrName);
  if (options.planFile.empty() && !base)
    return success();
  FailureOr<PlanFile> read =
      base ? parsePlan(module.getContext(), base, "of the first bucket")
           : readPlanFile(module.getContext(), options.planFile);
  if (failed(read))
    return failure();
  read->isBase = base != nullptr;
  request.file = std::move(*read);
  return mergeSizes(module, options, *request.file);
}

static LogicalResult verifyRankCount(ModuleOp module, const Cluster &cluster) {
  int64_t room = kMaxSize;
  for (const NodeGroup &group : cluster.nodes) {
    if (group.perNode > 0 && group.count > room / group.perNode)
      return module.emitError() << "the cluster has more than " << kMaxSize
                                << " ranks, which is the most of a plan";
    room -= group.count * group.perNode;
  }
  return success();
}

static LogicalResult writeSchedule(ModuleOp module, StringRef schedule) {
  if (schedule.empty())
    return success();
  if (!isSchedule(schedule))
    return module.emitError()
           << "schedule must be gpipe or 1f1b, found '" << schedule << "'";
  module->setAttr(ScheduleAttrName,
                  StringAttr::get(module.getContext(), schedule));
  return success();
}

LogicalResult cleave::planModule(ModuleOp module, PlanOptions options,
                                 const std::optional<Cluster> &given) {
  if (!module.getOps<MeshOp>().empty())
    return module.emitError("the module has a mesh: it is planned already");
  if (given && failed(verifyRankCount(module, *given)))
    return failure();
  PlanRequest request;
  if (failed(readFile(module, options, request)))
    return failure();
  FailureOr<Graph> graph = Graph::read(module);
  if (failed(graph) ||
      failed(readAnnotations(*graph, options, given, request)) ||
      failed(writeSchedule(module, options.schedule)))
    return failure();
  FailureOr<std::vector<PlanSizes>> sizes =
      enumerateSizes(*graph, options, given);
  if (failed(sizes))
    return failure();
  std::vector<Candidate> candidates;
  for (const PlanSizes &one : *sizes)
    candidates.push_back({candidates.size(), one, "", false, {}});
  request.options = options;
  request.knowsRanks = options.ranks || given;
  request.cluster =
      given ? *given : Cluster::getHost(sizes->front().getRanks());
  Planning planning(*graph, request);
  return candidates.size() > 1 ? choose(*graph, planning, request, candidates)
                               : takeFirst(*graph, planning, candidates);
}
