//===- Measure.h - figures of machines, as programs get them --------------===//

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

/// What a rank has of a machine.
struct DeviceFigures {
  Figure product, vector; ///< FLOP/s
  Figure bandwidth;       ///< bytes/s from memory
  Figure cached;          ///< bytes/s from its cache
  Figure scattered;       ///< bytes/s, rows from memory in no order
  Figure cache;           ///< bytes of it
  Figure call;            ///< seconds
  Figure memory;          ///< bytes
};

/// A link and how long all-reduces on it took.
struct MeasuredLink {
  Link link;
  std::string source;
};

/// Like machines, one behind the other in the order of ranks.
struct MeasuredNodes {
  int64_t count = 1;
  int64_t ranks = 1; ///< of each
  int64_t cores = 1; ///< ranks that can run at once
  DeviceFigures device;
  std::optional<MeasuredLink> link; ///< between its ranks; none for one rank
};

struct Measurements {
  std::string how; ///< how ranks were started
  std::vector<MeasuredNodes> nodes;
  std::optional<MeasuredLink> network; ///< none for one machine
};

/// Cores that this process may use.
int64_t countCores();

using MeasureStep = std::function<void(const std::string &)>;

/// Measures what each of `ranks` ranks of this host has, by programs that are
/// compiled and run in a temporary folder. As threads of one process with
/// `threads` threads a rank, or, where this is 0, as `cleave run` starts them.
/// Says what goes wrong and returns none.
std::optional<DeviceFigures> measureDevice(int64_t ranks, int64_t threads,
                                           const MeasureStep &step);

/// Measures `ranks` ranks that this process starts on this host.
std::optional<Measurements> measureHost(int64_t ranks, const MeasureStep &step);

/// A link from all-reduces between several numbers of ranks, the mean of them;
/// none, after an error, where the machine is too busy.
struct ReductionTimes {
  int64_t ranks = 0;
  double small = 0, large = 0; ///< seconds, of 256 bytes and of 2 MiB
};
std::optional<MeasuredLink> makeLink(const std::string &name,
                                     const std::vector<ReductionTimes> &times);

/// A cluster file with a comment for each figure.
std::string printCluster(const Measurements &measurements);

} // namespace cleave

#endif
