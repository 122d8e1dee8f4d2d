//===- CostModel.h - predicted times of ops and collectives ---------------===//
//
// Reads the IR and the cluster, changes neither. An op that makes a tensor
// takes the time to start it, and the longer of its arithmetic (products at the
// device's peak, all else at its vector rate) and its bytes at the memory's
// bandwidth. What is no product works on tensors that were just made: where
// they fit the cache, at its bandwidth. A collective follows the ring formulas
// in latency alpha and bandwidth 1/beta (NCCL tests, PERFORMANCE.md): for n
// ranks and B bytes of the whole buffer
//
//   all-reduce                 2 (n-1) alpha + 2 (n-1)/n B beta
//   all-gather, reduce-scatter   (n-1) alpha +   (n-1)/n B beta
//   all-to-all                   (n-1) alpha +   (n-1)/n (B/n) beta
//   point to point                     alpha +           B beta
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_COST_COSTMODEL_H
#define CLEAVE_PASSES_COST_COSTMODEL_H

#include "ir/ShardingRule.h"
#include "passes/cost/Cluster.h"

#include <optional>

namespace cleave {

/// What one mesh axis does to a tensor.
struct AxisState {
  enum Kind { Replicated, Split, Partial };
  Kind kind = Replicated;
  int64_t dim = -1;  ///< Split: the dim
  int64_t block = 1; ///< Split: chunks are multiples of this many elements
  ReduceKind reduction = ReduceKind::Sum; ///< Partial: what completes it

  static AxisState getReplicated() { return {}; }
  static AxisState getSplit(int64_t dim, int64_t block) {
    return {Split, dim, block, ReduceKind::Sum};
  }
  static AxisState getPartial(ReduceKind kind) {
    return {Partial, -1, 1, kind};
  }
  bool operator==(const AxisState &other) const = default;
};

/// Work of an op as it will run. Of an operand that is a view, what it shows is
/// read: of a broadcast bias no more than the bias. An elementwise op becomes
/// part of the kernel that makes its largest operand, so that operand and the
/// result cost no bytes of their own; the other operands are read.
Work getFusedWork(mlir::Operation *op);

/// An axis as collectives see it.
struct AxisLink {
  int64_t size = 1;     ///< ranks along the axis
  double latency = 0;   ///< seconds
  double bandwidth = 0; ///< bytes/s
};

/// A tensor as it lies on the ranks before the axis in question divides it.
struct LocalTensor {
  llvm::SmallVector<int64_t> shape;
  int64_t elementBytes = 4;

  double getBytes() const;
  /// Bytes under `state` of an axis of `parts` ranks: the largest shard.
  double getBytes(const AxisState &state, int64_t parts) const;
};

double getAllReduceTime(const AxisLink &axis, double bytes);
double getAllGatherTime(const AxisLink &axis, double bytes);
double getReduceScatterTime(const AxisLink &axis, double bytes);
/// `bytes`: what one rank holds.
double getAllToAllTime(const AxisLink &axis, double bytes);
double getSendTime(const Link &link, double bytes);

/// An all-reduce as it was measured, its ranks' meeting included.
struct LinkSample {
  double bytes, seconds;
};
/// The link on which all-reduces over `ranks` ranks take these times, by the
/// formula above and one latency for the meeting; none if the larger one takes
/// no longer.
std::optional<Link> fitLink(int64_t ranks, const LinkSample &small,
                            const LinkSample &large);

class CostModel {
public:
  /// Mixed clusters: plans are made for the slowest device.
  explicit CostModel(const Cluster &cluster);

  const Cluster &getCluster() const { return cluster; }
  /// Bytes/s of a rank's memory.
  double getMemoryBandwidth() const { return bandwidth; }
  /// Seconds of an op with this (local) work on elements of this type. What
  /// writes nothing is a view or part of another op's kernel: no start.
  double getOpTime(const Work &work, mlir::Type elementType) const;
  /// Seconds to read and write `bytes` in memory.
  double getCopyTime(double bytes) const { return 2 * bytes / bandwidth; }
  /// The axis `name` of `mesh`: bound by the slowest group of ranks along it.
  AxisLink getAxisLink(MeshAttr mesh, llvm::StringRef name) const;
  /// The slowest link between ranks of the same place in two meshes.
  Link getMeshLink(MeshAttr from, MeshAttr to) const;
  /// Seconds from one state of a tensor on an axis to another: nothing, a
  /// slice, or one collective: a latency until its ranks have met, its formula,
  /// and the copies that pack what does not lie in one piece. Infinity where
  /// there is no way (to a partial value).
  double getConversionTime(const AxisState &from, const AxisState &to,
                           const LocalTensor &tensor,
                           const AxisLink &axis) const;

private:
  double getCollectiveTime(const AxisState &from, const AxisState &to,
                           const LocalTensor &tensor,
                           const AxisLink &axis) const;
  double getPackTime(const AxisState &state, const LocalTensor &tensor,
                     int64_t parts) const;

  Cluster cluster;
  /// Seconds that moving what an op reads and writes takes.
  double getMoveTime(const Work &work) const;

  double bandwidth, scattered, vector = 0, call = 0;
  double cache = 0, cacheBandwidth = 0;
  std::map<std::string, double> peak;
};

/// Whether two states lay the tensor out alike: equal, or split in the same
/// chunks.
bool isSameLayout(const AxisState &a, const AxisState &b,
                  llvm::ArrayRef<int64_t> shape, int64_t parts);

} // namespace cleave

#endif
