//===- Memory.h - memory of a device --------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_MEMORY_H
#define CLEAVE_RUNTIME_CUDA_MEMORY_H

#include "runtime/cuda/Driver.h"

#include <vector>

namespace cleave::rt::cuda {

/// All that one rank has allocated; given back when it ends.
class Memory {
public:
  Memory() = default;
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Device memory, aligned to 256 bytes. Throws Failure (ExitDevice), which
  /// says what for and how much is free.
  void *allocate(size_t bytes, const char *what);
  /// Host memory that the device can reach.
  std::byte *allocateHost(size_t bytes);

private:
  std::vector<DevicePointer> onDevice;
  std::vector<void *> onHost;
};

/// Working memory of one stream, as large as the largest use so far. Grows in
/// the first step only, since all steps are alike.
class Scratch {
public:
  Scratch(Memory &memory, const char *what) : memory(memory), what(what) {}
  void *reserve(size_t bytes) {
    if (bytes > size) {
      data = memory.allocate(bytes, what);
      size = bytes;
    }
    return data;
  }

private:
  Memory &memory;
  const char *what;
  void *data = nullptr;
  size_t size = 0;
};

} // namespace cleave::rt::cuda

#endif
