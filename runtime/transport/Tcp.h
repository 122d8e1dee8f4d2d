//===- Tcp.h - ranks that meet over TCP -----------------------------------===//
//
// For device programs that torchrun starts, where there is no MPI: ranks meet
// at the master, and then have a connection each with each other. It carries
// what the host has to say; tensors go from device to device.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_TCP_H
#define CLEAVE_RUNTIME_TRANSPORT_TCP_H

#include "runtime/transport/Transport.h"

#include <string>

namespace cleave::rt {

struct TcpOptions {
  int rank = 0, size = 1;
  int localRank = 0, localSize = 1;
  std::string host; ///< of rank 0
  int port = 0;     ///< where rank 0 listens
  Deadlines deadlines;
};

/// What torchrun left in the environment; its own store has MASTER_PORT, so
/// that ranks meet at the next port, or at CLEAVE_PORT. Throws Failure
/// (ExitUsage) where it does not say the master.
TcpOptions readTcpOptions(int rank, int size, int localRank,
                          Deadlines deadlines);

/// Waits for the other ranks. Throws Failure (ExitPeer) when they do not come.
std::unique_ptr<Transport> makeTcpTransport(const TcpOptions &options);

} // namespace cleave::rt

#endif
