//===- StepLog.cpp - a line of JSON a step --------------------------------===//

#include "runtime/main/StepLog.h"

#include "runtime/support/Error.h"

#include <nlohmann/json.hpp>

namespace cleave::rt {

void StepLog::open(const std::filesystem::path &path, const Manifest &manifest,
                   bool isFirst) {
  isOpen = true;
  writes = isFirst;
  file = path;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo &output = manifest.outputs[i];
    bool isFloat = output.dtype == CLEAVE_F32 || output.dtype == CLEAVE_F64;
    if (output.shape.empty() && isFloat)
      scalars.push_back({static_cast<int>(i), output.name, output.dtype});
  }
  if (!isFirst)
    return;
  stream.open(path);
  if (!stream)
    fail(ExitUsage, "cannot write '{}'", path.string());
  last = std::chrono::steady_clock::now();
}

void StepLog::write(int64_t step, double rate, RankRun &run) {
  if (!isOpen)
    return;
  nlohmann::ordered_json line{{"step", step}};
  for (const Scalar &scalar : scalars) {
    double wide = 0;
    float narrow = 0;
    bool isNarrow = scalar.dtype == CLEAVE_F32;
    run.gatherOutput(scalar.index, isNarrow ? static_cast<void *>(&narrow)
                                            : static_cast<void *>(&wide));
    line[scalar.name] = isNarrow ? narrow : wide;
  }
  if (!writes)
    return;
  auto now = std::chrono::steady_clock::now();
  line["lr"] = rate;
  line["ms"] = std::chrono::duration<double, std::milli>(now - last).count();
  last = now;
  stream << line.dump() << std::endl;
  if (!stream)
    fail(ExitDevice, "cannot write '{}'", file.string());
}

} // namespace cleave::rt
