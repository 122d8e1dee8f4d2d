//===- StepDisplay.cpp - how far a run is, for who waits for it -----------===//

#include "runtime/main/StepDisplay.h"

#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace cleave::rt {

using namespace std::chrono_literals;

static constexpr const char *ClearLine = "\r\033[K";

/// "0:07", "12:34" or "1:02:03".
static std::string describeTime(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                       whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string describe(const StepFigures &figures) {
  std::string text = fmt::format("step {} of {}:", figures.step, figures.total);
  for (const auto &[name, value] : figures.outputs)
    text += fmt::format(" {} {:.5g},", name, value);
  if (figures.rate != 0)
    text += fmt::format(" lr {:.3g},", figures.rate);
  if (figures.samplesPerSecond != 0)
    text += fmt::format(" {:.4g} samples/s,", figures.samplesPerSecond);
  return text + fmt::format(" {} left", describeTime(figures.secondsLeft));
}

/// Columns of the terminal; of one that others pass our lines on to, the least
/// that is usual.
static size_t getWidth() {
  winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return size.ws_col;
}

StepDisplay::StepDisplay(const std::string &kind)
    : isBar(kind == "bar" || (kind == "auto" && isatty(STDERR_FILENO))),
      isSilent(kind == "none"), pause(isBar ? Clock::duration(200ms) : 10s),
      due(Clock::now() + pause) {}

StepDisplay::~StepDisplay() {
  if (isBar && !isSilent)
    std::fputs(ClearLine, stderr);
}

bool StepDisplay::isDue() const { return !isSilent && Clock::now() >= due; }

void StepDisplay::show(const StepFigures &figures) {
  std::string text = describe(figures);
  due = Clock::now() + pause;
  // The last column would start a new line on some terminals.
  if (isBar)
    fmt::print(stderr, "{}{}", ClearLine, text.substr(0, getWidth() - 1));
  else
    fmt::print(stderr, "cleave: {}\n", text);
  std::fflush(stderr);
}

} // namespace cleave::rt
