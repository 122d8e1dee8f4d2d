//===- Settings.h - numbers of a training step ----------------------------===//
//
// Sets the scalar states of a rank before each step: learning rate by its
// schedule, clip, weight decay, and what depends on the number of the step.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_SETTINGS_H
#define CLEAVE_RUNTIME_MAIN_SETTINGS_H

#include "runtime/main/RunOptions.h"
#include "runtime/program/Manifest.h"

namespace cleave::rt {

/// Part of the learning rate in step t (from 1) of `total`: rises to 1 over the
/// warm-up, then stays, or falls to 0 along a line or half a cosine.
double getRateShare(const TrainOptions &options, int64_t t, int64_t total);

/// A step, for what depends on it.
struct StepNumbers {
  int64_t step;        ///< from 1
  int64_t total;       ///< steps of the run, from the first on
  int64_t samples = 0; ///< of the batch that count; 0: all
};

/// Whether programs of the manifest take a setting of this kind.
bool hasSetting(const Manifest &manifest, const std::string &kind);

class Settings {
public:
  /// `states`: addresses in the order of the program's states, with their
  /// defaults. Throws Failure (ExitUsage) for a flag of something that no
  /// program of the manifest has.
  Settings(const TrainOptions &options, const Manifest &manifest,
           const ProgramInfo &program, void *const *states);

  void start(const StepNumbers &numbers);
  /// Of the step that was started last; 0 if the program has none.
  double rate() const { return currentRate; }

private:
  struct Setting {
    SettingInfo info;
    float *address;
    double value; ///< before any schedule
  };

  TrainOptions options;
  double currentRate = 0;
  std::vector<Setting> settings;
};

} // namespace cleave::rt

#endif
