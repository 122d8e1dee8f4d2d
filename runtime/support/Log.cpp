//===- Log.cpp - write levelled messages ----------------------------------===//
//
// One write per line, so that the lines of several ranks do not mix.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Log.h"

#include <array>
#include <atomic>
#include <unistd.h>

namespace cleave::rt {

static constexpr std::array<std::string_view, 4> LevelNames = {"error", "warn",
                                                               "info", "debug"};
static constexpr std::array<std::string_view, 4> LevelPrefixes = {
    "error", "warning", "info", "debug"};
static std::atomic<LogLevel> currentLevel{LogLevel::Warn};

LogLevel parseLogLevel(std::string_view word) {
  for (size_t i = 0; i < LevelNames.size(); ++i)
    if (word == LevelNames[i])
      return static_cast<LogLevel>(i);
  fail(ExitUsage, "unknown log level '{}', expected {}", word,
       fmt::join(LevelNames, ", "));
}

void setLogLevel(LogLevel level) { currentLevel = level; }

bool logEnabled(LogLevel level) { return level <= currentLevel.load(); }

void logLine(LogLevel level, const std::string &message) {
  std::string line = fmt::format(
      "cleave: {}: {}\n", LevelPrefixes[static_cast<size_t>(level)], message);
  [[maybe_unused]] ssize_t written =
      ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace cleave::rt
