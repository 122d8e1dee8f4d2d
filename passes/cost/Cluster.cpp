//===- Cluster.cpp - ranks, nodes and links; the default host -------------===//

#include "passes/cost/Cluster.h"

#include <cassert>

using namespace cleave;

int64_t Cluster::getRankCount() const {
  int64_t count = 0;
  for (const NodeGroup &group : nodes)
    count += group.count * group.perNode;
  return count;
}

namespace {
/// Where a rank lives.
struct Place {
  size_t group;
  int64_t node;
};
} // namespace

static Place locate(const Cluster &cluster, int64_t rank) {
  int64_t firstNode = 0;
  for (size_t i = 0; i < cluster.nodes.size(); ++i) {
    const NodeGroup &group = cluster.nodes[i];
    if (rank < group.count * group.perNode)
      return {i, firstNode + rank / group.perNode};
    rank -= group.count * group.perNode;
    firstNode += group.count;
  }
  assert(false && "the cluster has no such rank");
  return {0, 0};
}

int64_t Cluster::getNodeOf(int64_t rank) const {
  return locate(*this, rank).node;
}

const Device &Cluster::getDeviceOf(int64_t rank) const {
  return devices[nodes[locate(*this, rank).group].device];
}

int64_t Cluster::getCoresOf(int64_t rank) const {
  const NodeGroup &group = nodes[locate(*this, rank).group];
  return group.cores ? group.cores : group.perNode;
}

const Link &Cluster::getLinkBetween(llvm::ArrayRef<int64_t> ranks) const {
  Place first = locate(*this, ranks.front());
  for (int64_t rank : ranks)
    if (locate(*this, rank).node != first.node)
      return links[network];
  return links[nodes[first.group].link];
}

/// Figures for one CPU rank: one core with 16-lane vectors runs large products
/// at about 200 GFLOP/s, norms and activations at about 30, and streams about
/// 10 GB/s when its neighbours do so too, 5 row by row in no order, 50 from a
/// megabyte of cache. Its memory is not said, so that no plan is refused for
/// want of it. The link is shared memory under MPI: two ranks that all-reduce 1
/// MiB in 0.1 ms and 0.3 MB in 39 us give 7 us and 12 GB/s.
Cluster Cluster::getHost(int64_t ranks) {
  Cluster cluster;
  cluster.name = "this host";
  Device core;
  core.name = "core";
  core.bandwidth = 10e9;
  core.peak = {{"fp32", 200e9}, {"fp64", 100e9}};
  core.vector = 30e9;
  core.cache = 1024 * 1024;
  core.cacheBandwidth = 50e9;
  core.scattered = 5e9;
  core.call = 1e-6;
  cluster.devices.push_back(core);
  cluster.links.push_back({"shared memory", 7e-6, 12e9});
  NodeGroup node;
  node.perNode = ranks;
  cluster.nodes.push_back(node);
  return cluster;
}
