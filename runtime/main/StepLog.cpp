//===- StepLog.cpp - a line of JSON a step --------------------------------===//

#include "runtime/main/StepLog.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

namespace cleave::rt {

StepLog::StepLog(const std::filesystem::path &path, bool goesOn)
    : file(path), stream(path, goesOn ? std::ios::app : std::ios::trunc) {
  if (!stream)
    fail(ExitUsage, "cannot write '{}'", path.string());
}

void StepLog::write(const StepFigures &figures) {
  nlohmann::ordered_json line{{"step", figures.step}};
  for (const auto &[name, value] : figures.outputs)
    line[name] = value;
  line["lr"] = figures.rate;
  line["ms"] = figures.milliseconds;
  line["samples_per_s"] = figures.samplesPerSecond;
  line["peak_memory_bytes"] = figures.peakMemory;
  stream << line.dump() << std::endl;
  if (!stream)
    fail(ExitDevice, "cannot write '{}'", file.string());
}

} // namespace cleave::rt
