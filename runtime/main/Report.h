//===- Report.h - latency and memory of a run -----------------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_REPORT_H
#define CLEAVE_RUNTIME_MAIN_REPORT_H

#include "runtime/main/Compare.h"
#include "runtime/main/RunOptions.h"

namespace cleave::rt {

/// Latency of all ranks (the slowest counts) and their peak memory.
struct Report {
  int threads;
  std::vector<double> milliseconds; ///< a step each
  std::vector<int64_t> peaks;       ///< bytes of each rank
  std::vector<Difference> differences;
};

/// Combines what the ranks measured. All ranks call it.
Report gatherReport(std::vector<double> milliseconds, int threads,
                    Transport &transport);

/// Prints what the options ask for on stdout: lines, or one JSON object.
void printReport(const RunOptions &options, Report report);

} // namespace cleave::rt

#endif
