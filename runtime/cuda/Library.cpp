//===- Library.cpp - libraries that are loaded when they are needed -------===//

#include "runtime/cuda/Library.h"

#include "runtime/support/Error.h"

#include <dlfcn.h>

namespace cleave::rt::cuda {

Library::Library(std::initializer_list<const char *> names,
                 const char *purpose) {
  std::string reason;
  for (const char *candidate : names) {
    handle = dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
    if (handle) {
      name = candidate;
      return;
    }
    if (reason.empty())
      reason = dlerror();
  }
  fail(ExitDevice, "cannot load {}, which {}: {}", *names.begin(), purpose,
       reason);
}

void *Library::find(const char *entry) const {
  void *address = dlsym(handle, entry);
  if (!address)
    fail(ExitDevice, "'{}' has no '{}': a newer version is needed", name,
         entry);
  return address;
}

} // namespace cleave::rt::cuda
