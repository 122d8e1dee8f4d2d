//===- Report.cpp - latency and memory of a run ---------------------------===//
//
// Peak memory is the process's high-water mark; ranks of one process share it.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Report.h"

#include "runtime/support/Counted.h"
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

Report gatherReport(std::vector<double> milliseconds, int threads,
                    Transport &transport) {
  Collectives &world = transport.world();
  world.allReduce(milliseconds.data(), milliseconds.data(),
                  static_cast<int64_t>(milliseconds.size()), CLEAVE_F64,
                  CLEAVE_MAX, "report");
  int64_t own = peakMemory();
  std::vector<int64_t> peaks(world.size());
  world.allGather(&own, peaks.data(), 1, 1, CLEAVE_I64, "report");
  return {threads, std::move(milliseconds), std::move(peaks), {}};
}

static nlohmann::ordered_json toJson(const Difference &difference) {
  const TensorInfo &output = difference.output;
  return {{"output", output.name},
          {"node", output.node},
          {"op", output.op},
          {"difference", difference.relative},
          {"index", difference.index},
          {"found", static_cast<double>(difference.found)},
          {"expected", static_cast<double>(difference.expected)}};
}

static std::string toJson(const Report &report, const RunOptions &options) {
  const std::vector<double> &times = report.milliseconds;
  nlohmann::ordered_json json = {{"ranks", report.peaks.size()},
                                 {"threads", report.threads},
                                 {"repeat", times.size()},
                                 {"latency_ms",
                                  {{"min", times.front()},
                                   {"median", median(times)},
                                   {"p99", percentile(times, 0.99)}}},
                                 {"peak_memory_bytes", report.peaks}};
  if (!options.compare.empty()) {
    json["differences"] = nlohmann::ordered_json::object();
    for (const Difference &difference : report.differences)
      json["differences"][difference.output.name] = difference.relative;
    if (const Difference *first =
            findFirst(report.differences, options.tolerance))
      json["first_difference"] = toJson(*first);
  }
  return json.dump();
}

static std::string toText(const Report &report) {
  const std::vector<double> &times = report.milliseconds;
  auto most = static_cast<double>(
      *std::max_element(report.peaks.begin(), report.peaks.end()));
  auto ranks = static_cast<int64_t>(report.peaks.size());
  auto runs = static_cast<int64_t>(times.size());
  return fmt::format("{} of {}, {}: latency min {:.3f} ms, median {:.3f} ms, "
                     "p99 {:.3f} ms; peak memory {:.1f} MiB a rank at most",
                     counted(ranks, "rank"), counted(report.threads, "thread"),
                     counted(runs, "run"), times.front(), median(times),
                     percentile(times, 0.99), most / (1 << 20));
}

void printReport(const RunOptions &options, Report report) {
  std::sort(report.milliseconds.begin(), report.milliseconds.end());
  if (options.json)
    std::puts(toJson(report, options).c_str());
  else if (options.report)
    std::puts(toText(report).c_str());
  if (!options.json)
    for (const Difference &difference : report.differences)
      fmt::print("{}: differs by {:.3g} of the largest value\n",
                 described(difference.output), difference.relative);
  std::fflush(stdout);
}

} // namespace cleave::rt
