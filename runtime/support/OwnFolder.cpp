//===- OwnFolder.cpp - where the runtime's libraries are ------------------===//

#include "runtime/support/OwnFolder.h"

#include "runtime/support/Error.h"

#include <dlfcn.h>

namespace cleave::rt {

std::filesystem::path ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&ownFolder), &info) || !info.dli_fname)
    fail(ExitDevice, "cannot find the file of the runtime library");
  return std::filesystem::absolute(info.dli_fname).parent_path();
}

} // namespace cleave::rt
