//===- StepLog.h - a line of JSON a step ----------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_STEPLOG_H
#define CLEAVE_RUNTIME_MAIN_STEPLOG_H

#include "runtime/main/RankRun.h"

#include <chrono>
#include <fstream>

namespace cleave::rt {

/// Of all ranks, which bring their scalar outputs to the first one.
class StepLog {
public:
  /// Throws Failure (ExitUsage) when the first rank cannot write there.
  void open(const std::filesystem::path &path, const Manifest &manifest,
            bool isFirst);
  /// {"step", each float scalar output by its name, "lr", "ms" since the line
  /// before}. All ranks call it; nothing happens where no log is open.
  void write(int64_t step, double rate, RankRun &run);

private:
  struct Scalar {
    int index;
    std::string name;
    CleaveDtype dtype;
  };

  std::vector<Scalar> scalars;
  bool isOpen = false, writes = false;
  std::filesystem::path file;
  std::ofstream stream;
  std::chrono::steady_clock::time_point last;
};

} // namespace cleave::rt

#endif
