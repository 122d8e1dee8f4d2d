//===- Error.h - one kind of failure, with its exit code ------------------===//
//
// Everything in the runtime that cannot go on throws Failure. At the C ABI it
// becomes the context's sticky error; at the top of a rank, the one line that
// the user reads and the exit code.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_ERROR_H
#define CLEAVE_RUNTIME_SUPPORT_ERROR_H

#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cleave::rt {

/// Exit codes that users see.
enum ExitCode : int {
  ExitDone = 0,
  ExitUsage = 2,
  ExitModel = 3,
  ExitPlan = 4,
  ExitMismatch = 5,
  ExitPeer = 6,
  ExitDevice = 7,
  ExitStopped = 75,
};

/// An error in words (lower case, no full stop), with the code to exit with.
class Failure : public std::runtime_error {
public:
  Failure(ExitCode code, const std::string &message)
      : std::runtime_error(message), code(code) {}
  ExitCode code;
};

/// Throws a Failure whose message is formatted as by fmt.
template <typename... Args>
[[noreturn]] void fail(ExitCode code, fmt::format_string<Args...> format,
                       Args &&...args) {
  throw Failure(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Runs `body`; what it threw, as a Failure.
template <typename Body> std::optional<Failure> catchFailure(Body &&body) {
  try {
    body();
  } catch (const Failure &failure) {
    return failure;
  } catch (const std::exception &exception) {
    return Failure(ExitDevice, exception.what());
  }
  return std::nullopt;
}

/// "[1, 197, 384]": a shape or an index as messages show it.
template <typename Range> std::string listed(const Range &range) {
  return fmt::format("[{}]", fmt::join(range, ", "));
}

} // namespace cleave::rt

#endif
