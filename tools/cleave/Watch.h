//===- Watch.h - start a command and watch over it ------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_WATCH_H
#define CLEAVE_TOOLS_CLEAVE_WATCH_H

#include <string>
#include <vector>

namespace cleave {

/// What is started: a rank, or mpirun, whose children are ranks.
enum class Started { Rank, Mpirun };

/// Runs `command` to its end and returns the exit code that the user gets. It
/// ends with this process. A signal to this process is a request to stop, which
/// the ranks follow after the running step (ExitStopped); a second one ends
/// them at once. Says so when a signal ended a rank, and when mpirun hangs,
/// which it then ends (ExitPeer).
int runWatched(std::vector<std::string> command, Started started);

} // namespace cleave

#endif
