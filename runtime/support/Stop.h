//===- Stop.h - stop on request, after the running step -------------------===//
//
// The first SIGTERM or SIGUSR1 is a request, which ranks look at between steps;
// the second ends the process as if nobody had watched.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_STOP_H
#define CLEAVE_RUNTIME_SUPPORT_STOP_H

namespace cleave::rt {

/// Watches for the two signals from now on. For executables: a library leaves
/// the signals of its process alone.
void watchStopSignals();

/// True once this process was asked to stop.
bool isStopRequested();

} // namespace cleave::rt

#endif
