//===- StepFigures.cpp - what a step gave, for people and files -----------===//
//
// The first step of a run is often slower than the rest, so the time left comes
// from the others once there are some.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/StepFigures.h"

#include <sys/resource.h>

namespace cleave::rt {

using Seconds = std::chrono::duration<double>;

StepReader::StepReader(const Manifest &manifest, Transport &transport)
    : transport(transport), batch(findBatch(manifest)) {
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo &output = manifest.outputs[i];
    bool isFloat = output.dtype == CLEAVE_F32 || output.dtype == CLEAVE_F64;
    if (output.shape.empty() && isFloat)
      scalars.push_back({static_cast<int>(i), output.name, output.dtype});
  }
}

void StepReader::start(int64_t done, int64_t total) {
  last.step = before = done;
  last.total = total;
  first = end = Clock::now();
}

void StepReader::endStep(int64_t samples) {
  Clock::time_point now = Clock::now();
  double seconds = Seconds(now - end).count();
  end = now;
  ++last.step;
  last.milliseconds = 1000 * seconds;
  last.samplesPerSecond =
      static_cast<double>(samples ? samples : batch) / seconds;
  int64_t ran = last.step - before;
  if (ran == 1)
    first = now;
  double pace =
      ran == 1 ? seconds
               : Seconds(end - first).count() / static_cast<double>(ran - 1);
  last.secondsLeft = pace * static_cast<double>(last.total - last.step);
}

/// The most that this process has had in memory, in bytes.
static int64_t getPeakMemory() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

StepFigures StepReader::read(RankRun &run, double rate) {
  StepFigures figures = last;
  for (const Scalar &scalar : scalars) {
    double wide = 0;
    float narrow = 0;
    bool isNarrow = scalar.dtype == CLEAVE_F32;
    run.gatherOutput(scalar.index, isNarrow ? static_cast<void *>(&narrow)
                                            : static_cast<void *>(&wide));
    figures.outputs.emplace_back(scalar.name, isNarrow ? narrow : wide);
  }
  figures.rate = rate;
  figures.peakMemory = getPeakMemory();
  transport.world().allReduce(&figures.peakMemory, &figures.peakMemory, 1,
                              CLEAVE_I64, CLEAVE_MAX, "figures of the step");
  return figures;
}

} // namespace cleave::rt
