//===- StepDisplay.h - how far a run is, for who waits for it -------------===//
#ifndef CLEAVE_RUNTIME_MAIN_STEPDISPLAY_H
#define CLEAVE_RUNTIME_MAIN_STEPDISPLAY_H

#include "runtime/main/StepFigures.h"

namespace cleave::rt {

/// "step 120 of 1000: loss 2.31, lr 0.001, 812 samples/s, 1:23 left"
std::string describe(const StepFigures &figures);

/// Shows figures on stderr: on a terminal one line that changes, else a line
/// every ten seconds.
class StepDisplay {
public:
  /// `kind`: auto, bar, lines or none.
  explicit StepDisplay(const std::string &kind);
  StepDisplay(const StepDisplay &) = delete;
  StepDisplay &operator=(const StepDisplay &) = delete;
  ~StepDisplay();

  /// Whether figures of the next step are wanted.
  bool isDue() const;
  void show(const StepFigures &figures);

private:
  using Clock = std::chrono::steady_clock;
  bool isBar, isSilent;
  Clock::duration pause;
  Clock::time_point due;
};

} // namespace cleave::rt

#endif
