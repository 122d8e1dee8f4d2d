//===- Cluster.h - description of the machines ----------------------------===//
//
// Devices, nodes and links, as the user describes them in a YAML file or as the
// default for ranks on this host. Every machine constant that the planner uses
// comes from here; units are bytes, seconds, bytes/s and FLOP/s.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_COST_CLUSTER_H
#define CLEAVE_PASSES_COST_CLUSTER_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cleave {

/// One kind of device; on a CPU, what one rank has of it.
struct Device {
  std::string name;
  std::string target = "cpu";         ///< cpu or cuda
  std::string arch;                   ///< sm_90, or a CPU name; may be empty
  double memory = 0;                  ///< bytes; 0: not said
  double bandwidth = 0;               ///< bytes/s of its memory
  double cache = 0;                   ///< bytes; 0: none that is known
  double cacheBandwidth = 0;          ///< bytes/s of it
  double scattered = 0;               ///< bytes/s of rows read in no order from
                                      ///< memory; 0: as in order
  std::map<std::string, double> peak; ///< FLOP/s of products, by precision;
                                      ///< has fp32
  double vector = 0;                  ///< FLOP/s of all else; 0: as products
  double call = 0;                    ///< seconds to start an op
};

/// What connects devices of a node, or nodes; per device and direction.
struct Link {
  std::string name;
  double latency = 0;   ///< seconds
  double bandwidth = 0; ///< bytes/s
};

/// `count` nodes of the same kind.
struct NodeGroup {
  int64_t count = 1;
  size_t device = 0; ///< number in Cluster::devices
  int64_t perNode = 1;
  size_t link = 0; ///< between devices of a node; number in Cluster::links
  /// Ranks of a node that can run at once, where those are fewer than perNode;
  /// 0: all.
  int64_t cores = 0;
  int64_t nics = 1;
  double hostMemory = 0; ///< bytes; 0: not said
  int64_t hostLink = -1; ///< number in Cluster::links; -1: not said
};

struct Cluster {
  std::string name;
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<NodeGroup> nodes;
  int64_t network = -1; ///< link between nodes; -1: there is one node

  int64_t getRankCount() const;
  /// Node of a rank; ranks fill the nodes in order.
  int64_t getNodeOf(int64_t rank) const;
  /// How many ranks of a rank's node can run at once.
  int64_t getCoresOf(int64_t rank) const;
  /// Device of a rank.
  const Device &getDeviceOf(int64_t rank) const;
  /// The link that a collective of these ranks is bound by: that of their node
  /// if they share one, else the network. All must exist.
  const Link &getLinkBetween(llvm::ArrayRef<int64_t> ranks) const;

  /// `ranks` CPU ranks on this host, with the figures of Cluster.cpp: modest
  /// and the same everywhere, so that a plan does not depend on where it is
  /// made.
  static Cluster getHost(int64_t ranks);
};

/// Reads a description; faults are errors at their line and column of the file.
mlir::FailureOr<Cluster> readCluster(mlir::MLIRContext *context,
                                     llvm::StringRef path);

} // namespace cleave

#endif
