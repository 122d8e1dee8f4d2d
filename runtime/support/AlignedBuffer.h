//===- AlignedBuffer.h - memory for tensors -------------------------------===//
//
// 64-byte aligned; from 2 MiB on, aligned to huge pages and advised so, which
// saves most of the address translation of large products. Not zeroed.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_ALIGNEDBUFFER_H
#define CLEAVE_RUNTIME_SUPPORT_ALIGNEDBUFFER_H

#include "runtime/support/Error.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>

namespace cleave::rt {

class AlignedBuffer {
public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes) : bytes(bytes) {
    if (bytes == 0)
      return;
    size_t alignment = bytes >= HugePage ? HugePage : 64;
    size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    memory.reset(
        static_cast<std::byte *>(std::aligned_alloc(alignment, rounded)));
    if (!memory)
      fail(ExitDevice, "out of memory: cannot allocate {} bytes", bytes);
    if (alignment == HugePage)
      madvise(memory.get(), rounded, MADV_HUGEPAGE);
  }

  std::byte *data() const { return memory.get(); }
  size_t size() const { return bytes; }

private:
  static constexpr size_t HugePage = size_t{2} << 20;
  struct Free {
    void operator()(std::byte *p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory;
  size_t bytes = 0;
};

} // namespace cleave::rt

#endif
