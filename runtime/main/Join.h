//===- Join.h - meet the other ranks that were launched -------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_JOIN_H
#define CLEAVE_RUNTIME_MAIN_JOIN_H

#include "runtime/main/Launched.h"
#include "runtime/transport/LoadMpi.h"

namespace cleave::rt {

/// The transport of a launched process; a world of one needs no MPI, whatever
/// started it, and device programs that torchrun starts meet over TCP. Throws
/// Failure (ExitMismatch) when MPI does not see as many processes as the
/// launcher started.
std::unique_ptr<Transport> joinRanks(const Launched &launched,
                                     const MpiOptions &options,
                                     bool hasDevice = false);

} // namespace cleave::rt

#endif
