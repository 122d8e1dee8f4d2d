//===- Driver.cpp - the entry points of the CUDA driver -------------------===//

#include "runtime/cuda/Driver.h"

namespace cleave::rt::cuda {

Driver::Driver() : library({"libcuda.so.1"}, "comes with the NVIDIA driver") {
  CLEAVE_DRIVER_ENTRIES(CLEAVE_FIND_ENTRY)
  check(cuInit(0), "cuInit");
}

void Driver::check(Status status, const char *call) const {
  if (status == StatusDone)
    return;
  const char *words = nullptr;
  if (cuGetErrorString(status, &words) != StatusDone || !words)
    words = "unknown error";
  fail(ExitDevice, "CUDA: {} failed: {} ({})", call, words, status);
}

const Driver &driver() {
  static const Driver loaded;
  return loaded;
}

} // namespace cleave::rt::cuda
