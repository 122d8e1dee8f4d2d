//===- Options.h - what the user may fix of a plan ------------------------===//

#ifndef CLEAVE_PASSES_PLAN_OPTIONS_H
#define CLEAVE_PASSES_PLAN_OPTIONS_H

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::plan {

/// What the search minimises.
enum class Objective {
  /// Balanced; where the number of ranks was said, or the machines, Time if
  /// that
  /// is clearly faster.
  Automatic,
  /// Time, but a weight that an axis leaves whole costs 30 reads of it: an axis
  /// that was asked for by number is there to divide the weights, so a small
  /// loss
  /// of time is accepted for it. How evenly a weight is divided has no price.
  Balanced,
  /// Time; weights decide between equals.
  Time,
  /// Bytes of weights; time decides between equals.
  Memory,
};

/// Each size is at most this.
constexpr int64_t kMaxSize = 65536;

/// Sizes are 0 where they are not said: chosen by cost if the number of ranks
/// is known (`ranks`, or the cluster's), else 1.
struct PlanOptions {
  int64_t dp = 0; ///< ranks that share the batch
  int64_t tp = 0; ///< ranks that share tensors
  int64_t pp = 0; ///< pipeline stages
  /// Parts of the batch that are processed one after the other; the search
  /// treats them with dp as one axis, for both divide the batch.
  int64_t microBatches = 0;
  /// gpipe or 1f1b: the order of micro-batches in training. Empty: that of the
  /// plan file, else left to the schedule phase.
  std::string schedule;
  /// The least batch of all buckets of the model, which dp has to divide; 0: it
  /// is the only one.
  int64_t leastBatch = 0;
  /// Ranks that will run; 0: those of the cluster, or as many as the plan
  /// needs.
  int64_t ranks = 0;
  /// "GLOB=-,tp": per dim an axis, axes joined by +, or -; "tp:64" sets the
  /// block.
  std::vector<std::string> shards;
  /// "NODE-GLOB=K": nodes of that name are in stage K.
  std::vector<std::string> stages;
  /// plan.json to replay; what it leaves out is found by the search.
  std::string planFile;
  /// Of the model's annotations, the configuration that has to be taken; empty:
  /// the one for as many ranks, if there is one.
  std::string configuration;
  Objective objective = Objective::Automatic;
};

} // namespace cleave::plan

#endif
