//===- Report.h - latency and memory of a run -----------------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_REPORT_H
#define CLEAVE_RUNTIME_MAIN_REPORT_H

#include "runtime/transport/Transport.h"

#include <vector>

namespace cleave::rt {

/// Combines the times of all ranks (the slowest counts) and their peak memory;
/// rank 0 prints them on stdout. All ranks call it.
void printReport(std::vector<double> milliseconds, int threads, bool json,
                 Transport &transport);

} // namespace cleave::rt

#endif
