//===- LoadMpi.cpp - find and load libcleave_mpi.so -----------------------===//
//
// Open MPI opens plugins of its own, which look symbols up globally: hence
// RTLD_GLOBAL. The library stays loaded to the end of the process.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/LoadMpi.h"

#include "runtime/Format.h"
#include "runtime/support/Error.h"
#include "runtime/support/OwnFolder.h"

#include <cstdlib>
#include <dlfcn.h>

namespace cleave::rt {

std::unique_ptr<Transport> loadMpiTransport(const MpiOptions &options) {
  const char *named = std::getenv("CLEAVE_MPI_LIB");
  std::string path =
      named && *named ? named : (ownFolder() / format::MpiLib).string();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    fail(ExitDevice,
         "cannot load the MPI transport: {}; install an MPI or name the "
         "transport built for yours with CLEAVE_MPI_LIB",
         dlerror());
  auto *make = reinterpret_cast<MakeMpiTransportFn *>(
      dlsym(library, "cleaveMakeMpiTransport"));
  if (!make)
    fail(ExitDevice, "'{}' is not an MPI transport of cleave", path);
  return std::unique_ptr<Transport>(make(options));
}

} // namespace cleave::rt
