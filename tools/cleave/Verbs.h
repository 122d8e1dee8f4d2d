//===- Verbs.h - the verbs of the driver ----------------------------------===//
//
// Each verb adds its flags to the command line and leaves what runs it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_VERBS_H
#define CLEAVE_TOOLS_CLEAVE_VERBS_H

#include <CLI/CLI.hpp>

#include <functional>

namespace cleave {

enum ExitCode {
  ExitDone = 0,
  ExitUsage = 2,
  ExitModel = 3,
  ExitPlan = 4,
  ExitMismatch = 5,
  ExitPeer = 6,
  ExitDevice = 7,
  ExitStopped = 75,
};

/// Runs the verb that was given, and returns the exit code.
using Verb = std::function<int()>;

void addCompile(CLI::App &app, Verb &verb);
void addPlan(CLI::App &app, Verb &verb);
void addRun(CLI::App &app, Verb &verb);
void addExport(CLI::App &app, Verb &verb);
void addInspect(CLI::App &app, Verb &verb);
void addDoctor(CLI::App &app, Verb &verb);

} // namespace cleave

#endif
