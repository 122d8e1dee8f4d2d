//===- LoadMpi.h - the MPI transport, loaded when it is needed ------------===//
//
// Only libcleave_mpi.so is linked to an MPI; the runtime loads it at start, so
// that another MPI needs only that object rebuilt.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_LOADMPI_H
#define CLEAVE_RUNTIME_TRANSPORT_LOADMPI_H

#include "runtime/transport/Transport.h"

namespace cleave::rt {

struct MpiOptions {
  Deadlines deadlines;
  /// Use shared memory between ranks of one host.
  bool shareMemory = true;
  /// The process is not the runtime's own: other threads may use MPI, and may
  /// have started it.
  bool isResident = false;
};

/// The signature of `cleaveMakeMpiTransport`, which libcleave_mpi.so exports.
using MakeMpiTransportFn = Transport *(const MpiOptions &);

/// Loads libcleave_mpi.so ($CLEAVE_MPI_LIB, else beside libcleave_rt.so),
/// starts MPI and waits for the other ranks.
std::unique_ptr<Transport> loadMpiTransport(const MpiOptions &options);

} // namespace cleave::rt

#endif
