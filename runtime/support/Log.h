//===- Log.h - levelled messages on stderr --------------------------------===//
//
// `cleave: warning: ...`, one line each. The level comes from --log-level or
// CLEAVE_LOG and is the process's only global: ranks of one process share it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_LOG_H
#define CLEAVE_RUNTIME_SUPPORT_LOG_H

#include "runtime/support/Error.h"

#include <string_view>

namespace cleave::rt {

enum class LogLevel { Error, Warn, Info, Debug };

/// Reads "error", "warn", "info" or "debug"; other words are a usage failure.
LogLevel parseLogLevel(std::string_view word);
void setLogLevel(LogLevel level);
bool logEnabled(LogLevel level);

/// Writes one line when `level` is enabled.
void logLine(LogLevel level, const std::string &message);

template <typename... Args>
void logf(LogLevel level, fmt::format_string<Args...> format, Args &&...args) {
  if (logEnabled(level))
    logLine(level, fmt::format(format, std::forward<Args>(args)...));
}

} // namespace cleave::rt

#endif
