//===- Loopback.h - ranks as threads of one process -----------------------===//
//
// The hub is what the rank threads share; each makes its own transport on it.
// A rank that aborts stops the waits of all others.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_LOOPBACK_H
#define CLEAVE_RUNTIME_TRANSPORT_LOOPBACK_H

#include "runtime/transport/Transport.h"

namespace cleave::rt {

class LoopbackHub;

/// A hub for `size` ranks. Ranks beyond the processor's cores yield sooner.
std::shared_ptr<LoopbackHub> makeLoopbackHub(int size);

/// The transport of `rank`; call it and use it on that rank's thread.
std::unique_ptr<Transport>
makeLoopbackTransport(std::shared_ptr<LoopbackHub> hub, int rank,
                      Deadlines deadlines);

} // namespace cleave::rt

#endif
