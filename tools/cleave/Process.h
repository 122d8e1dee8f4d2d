//===- Process.h - run a command to its end -------------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_PROCESS_H
#define CLEAVE_TOOLS_CLEAVE_PROCESS_H

#include <string>
#include <vector>

namespace cleave {

struct Finished {
  int code = 0;     ///< exit code; below 0: it could not be started
  std::string text; ///< of standard output, then of standard error
};

/// Runs a command without input, `command[0]` looked up in the path.
Finished runCommand(const std::vector<std::string> &command);

/// The path of this executable.
std::string getSelf();

} // namespace cleave

#endif
