//===- Join.cpp - meet the other ranks that were launched -----------------===//

#include "runtime/main/Join.h"

#include "runtime/support/Error.h"
#include "runtime/transport/Loopback.h"
#include "runtime/transport/Tcp.h"

#include <string_view>

namespace cleave::rt {

static void verifyLauncher(const Launched &launched, int mpiSize) {
  if (launched.size == mpiSize)
    return;
  if (std::string_view(launched.launcher) == "srun")
    fail(ExitMismatch,
         "MPI sees {} process while srun started {}: add --mpi=pmix", mpiSize,
         launched.size);
  fail(ExitMismatch,
       "MPI sees {} process while {} started {}: start CPU ranks with the "
       "mpirun of the MPI in use",
       mpiSize, launched.launcher, launched.size);
}

std::unique_ptr<Transport>
joinRanks(const Launched &launched, const MpiOptions &options, bool hasDevice) {
  if (launched.size == 1)
    return makeLoopbackTransport(makeLoopbackHub(1), 0, options.deadlines);
  if (hasDevice && std::string_view(launched.launcher) == "torchrun")
    return makeTcpTransport(readTcpOptions(
        launched.rank, launched.size, launched.localRank, options.deadlines));
  std::unique_ptr<Transport> transport = loadMpiTransport(options);
  verifyLauncher(launched, transport->size());
  return transport;
}

} // namespace cleave::rt
