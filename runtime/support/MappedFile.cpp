//===- MappedFile.cpp - a file's bytes as memory --------------------------===//

#include "runtime/support/MappedFile.h"

#include "runtime/support/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cleave::rt {

MappedFile::MappedFile(const std::filesystem::path &file) {
  int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  off_t size = lseek(descriptor, 0, SEEK_END);
  void *memory = size > 0 ? mmap(nullptr, static_cast<size_t>(size), PROT_READ,
                                 MAP_PRIVATE, descriptor, 0)
                          : nullptr;
  int error = errno;
  close(descriptor);
  if (memory == MAP_FAILED || size < 0)
    fail(ExitDevice, "cannot map '{}': {}", file.string(),
         std::strerror(error));
  if (memory)
    mapped = {static_cast<const std::byte *>(memory),
              static_cast<size_t>(size)};
}

MappedFile::~MappedFile() {
  if (!mapped.empty())
    munmap(const_cast<std::byte *>(mapped.data()), mapped.size());
}

void readAhead(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return;
  static const auto Page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  uintptr_t first = begin / Page * Page;
  // Advice: what goes wrong leaves the pages to be read when they are used.
  (void)madvise(reinterpret_cast<void *>(first), begin + bytes.size() - first,
                MADV_WILLNEED);
}

} // namespace cleave::rt
