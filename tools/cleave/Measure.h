//===- Measure.h - figures of this machine, as programs get them ----------===//

#ifndef CLEAVE_TOOLS_CLEAVE_MEASURE_H
#define CLEAVE_TOOLS_CLEAVE_MEASURE_H

#include "passes/cost/Cluster.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cleave {

/// A figure and where it comes from.
struct Figure {
  double value = 0;
  std::string source;
};

struct Measurements {
  int64_t ranks = 1;
  int64_t cores = 1;        ///< ranks that can run at once
  std::string how;          ///< how ranks were started
  Figure product, vector;   ///< FLOP/s of a rank
  Figure bandwidth;         ///< bytes/s of a rank, from memory
  Figure cached;            ///< bytes/s of a rank, from its cache
  Figure scattered;         ///< bytes/s of a rank, rows from memory in no order
  Figure cache;             ///< bytes of it
  Figure call;              ///< seconds
  Figure memory;            ///< bytes of a rank
  std::optional<Link> link; ///< between ranks; none for one rank
  std::string linkSource;
};

/// Cores that this process may use.
int64_t countCores();

/// Measures `ranks` ranks on this host by programs that are compiled and run in
/// a temporary folder. Says what goes wrong and returns none.
std::optional<Measurements>
measure(int64_t ranks, const std::function<void(const std::string &)> &step);

/// A cluster file with a comment for each figure.
std::string printCluster(const Measurements &measurements);

} // namespace cleave

#endif
