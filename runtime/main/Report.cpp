//===- Report.cpp - latency and memory of a run ---------------------------===//
//
// Peak memory is the process's high-water mark; ranks of one process share it.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Report.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::rt {

/// VmHWM of this process in bytes.
static int64_t peakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:"))
      return std::stoll(line.substr(6)) * 1024;
  return 0;
}

/// The smallest value that at least `part` of the sorted values do not exceed.
static double percentile(const std::vector<double> &sorted, double part) {
  auto rank = static_cast<size_t>(std::ceil(part * sorted.size()));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

static double median(const std::vector<double> &sorted) {
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half]
                           : (sorted[half - 1] + sorted[half]) / 2;
}

void printReport(std::vector<double> milliseconds, int threads, bool json,
                 Transport &transport) {
  Collectives &world = transport.world();
  world.allReduce(milliseconds.data(), milliseconds.data(),
                  static_cast<int64_t>(milliseconds.size()), CLEAVE_F64,
                  CLEAVE_MAX, "report");
  int64_t own = peakMemory();
  std::vector<int64_t> peaks(world.size());
  world.allGather(&own, peaks.data(), 1, 1, CLEAVE_I64, "report");
  if (transport.rank() != 0)
    return;

  std::sort(milliseconds.begin(), milliseconds.end());
  double low = milliseconds.front(), middle = median(milliseconds),
         high = percentile(milliseconds, 0.99);
  std::string text;
  if (json) {
    nlohmann::ordered_json report = {
        {"ranks", world.size()},
        {"threads", threads},
        {"repeat", milliseconds.size()},
        {"latency_ms", {{"min", low}, {"median", middle}, {"p99", high}}},
        {"peak_memory_bytes", peaks}};
    text = report.dump();
  } else {
    double most =
        static_cast<double>(*std::max_element(peaks.begin(), peaks.end()));
    text =
        fmt::format("{} ranks of {} threads, {} runs: latency min {:.3f} ms, "
                    "median {:.3f} ms, p99 {:.3f} ms; peak memory {:.1f} MiB "
                    "a rank at most",
                    world.size(), threads, milliseconds.size(), low, middle,
                    high, most / (1 << 20));
  }
  std::puts(text.c_str());
  std::fflush(stdout);
}

} // namespace cleave::rt
