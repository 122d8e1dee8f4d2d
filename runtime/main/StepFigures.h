//===- StepFigures.h - what a step gave, for people and files -------------===//
#ifndef CLEAVE_RUNTIME_MAIN_STEPFIGURES_H
#define CLEAVE_RUNTIME_MAIN_STEPFIGURES_H

#include "runtime/main/RankRun.h"

#include <chrono>

namespace cleave::rt {

struct StepFigures {
  int64_t step = 0, total = 0; ///< from 1; of the run, from the first on
  std::vector<std::pair<std::string, double>> outputs; ///< scalars, by name
  double rate = 0;                                     ///< learning rate
  double milliseconds = 0;     ///< since the end of the step before
  double samplesPerSecond = 0; ///< 0 where the model has no batch
  int64_t peakMemory = 0;      ///< bytes of the fullest rank
  double secondsLeft = 0;      ///< at the pace of the run so far
};

/// Brings the figures of all ranks to the first one.
class StepReader {
public:
  StepReader(const Manifest &manifest, Transport &transport);

  /// Of a run that has done `done` steps before, right before its first step.
  void start(int64_t done, int64_t total);
  /// Once at the end of each step: `samples` of its batch count, 0: all.
  void endStep(int64_t samples);
  /// The figures of the step that has ended, complete on the first rank. All
  /// ranks call it.
  StepFigures read(RankRun &run, double rate);

private:
  struct Scalar {
    int index;
    std::string name;
    CleaveDtype dtype;
  };
  using Clock = std::chrono::steady_clock;

  Transport &transport;
  int64_t batch;
  std::vector<Scalar> scalars;
  StepFigures last; ///< but for outputs, rate and memory
  int64_t before = 0;
  Clock::time_point first, end; ///< ends of the first step and of the last
};

} // namespace cleave::rt

#endif
