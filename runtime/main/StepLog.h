//===- StepLog.h - a line of JSON a step ----------------------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_STEPLOG_H
#define CLEAVE_RUNTIME_MAIN_STEPLOG_H

#include "runtime/main/StepFigures.h"

#include <filesystem>
#include <fstream>

namespace cleave::rt {

/// {"step", each float scalar output by its name, "lr", "ms", "samples_per_s",
/// "peak_memory_bytes"}.
class StepLog {
public:
  /// Adds to what is there if `goesOn`. Throws Failure (ExitUsage) when it
  /// cannot write there.
  StepLog(const std::filesystem::path &path, bool goesOn);
  void write(const StepFigures &figures);

private:
  std::filesystem::path file;
  std::ofstream stream;
};

} // namespace cleave::rt

#endif
