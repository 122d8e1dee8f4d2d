//===- Memory.cpp - the memory of a device --------------------------------===//

#include "device/Memory.h"

#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace cudaemu;

// Address space of a device; only what is touched takes memory.
static constexpr uint64_t span = 256ull << 30;
static constexpr uint64_t gap = 4096; ///< Between allocations.

static char *reserve(uint64_t bytes, int protection) {
  void *at = mmap(nullptr, bytes, protection,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc();
  return static_cast<char *>(at);
}

Memory::Memory(uint64_t capacity) : limit(capacity) {
  base = reinterpret_cast<uint64_t>(reserve(span, PROT_NONE));
  data = reserve(span, PROT_READ | PROT_WRITE);
  marks = reinterpret_cast<uint8_t *>(reserve(span, PROT_READ | PROT_WRITE));
  cells = reinterpret_cast<Uses *>(reserve(3 * span, PROT_READ | PROT_WRITE));
  next = base + gap;
}

Memory::~Memory() {
  munmap(std::bit_cast<void *>(base), span);
  munmap(data, span);
  munmap(marks, span);
  munmap(cells, 3 * span);
}

const Allocation *Memory::allocate(uint64_t bytes, uint64_t align,
                                   std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t begin = (next + align - 1) / align * align;
  if (bytes > limit - inUse || begin + bytes + gap > base + span)
    return nullptr;
  next = begin + bytes + gap;
  inUse += bytes;
  Allocation &made = allocations[begin];
  made.begin = begin;
  made.bytes = bytes;
  made.delta = reinterpret_cast<int64_t>(data) - static_cast<int64_t>(base);
  made.name = std::move(name);
  std::memset(made.host(begin), 0xff, bytes);
  return &made;
}

const Allocation *Memory::addHost(void *memory, uint64_t bytes,
                                  std::string name) {
  std::lock_guard<std::mutex> lock(mutex);
  auto begin = reinterpret_cast<uint64_t>(memory);
  Allocation &made = allocations[begin];
  made.begin = begin;
  made.bytes = bytes;
  made.isHost = true;
  made.isFreed = false;
  made.name = std::move(name);
  return &made;
}

/// Gives the pages back, of the bytes and of what is known about them.
static void discard(void *memory, uint64_t bytes) {
  auto begin = (reinterpret_cast<uint64_t>(memory) + 4095) & ~4095ull;
  auto end = (reinterpret_cast<uint64_t>(memory) + bytes) & ~4095ull;
  if (begin < end)
    madvise(std::bit_cast<void *>(begin), end - begin, MADV_DONTNEED);
}

bool Memory::release(uint64_t begin) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = allocations.find(begin);
  if (found == allocations.end() || found->second.isFreed)
    return false;
  Allocation &freed = found->second;
  freed.isFreed = true;
  if (freed.isHost)
    return true;
  inUse -= freed.bytes;
  discard(freed.host(begin), freed.bytes);
  discard(initialised(begin), freed.bytes);
  discard(uses(begin), freed.bytes * 3);
  return true;
}

const Allocation *Memory::find(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin())
    return nullptr;
  const Allocation &found = std::prev(after)->second;
  return found.contains(address, 1) ? &found : nullptr;
}

std::string Memory::describe(uint64_t address, uint64_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto after = allocations.upper_bound(address);
  if (address < 65536)
    return "near null";
  if (after == allocations.begin())
    return after == allocations.end()
               ? "nothing is allocated"
               : std::to_string(after->first - address) + " bytes before " +
                     after->second.name;
  const Allocation &before = std::prev(after)->second;
  uint64_t offset = address - before.begin;
  std::string what =
      before.name + " of " + std::to_string(before.bytes) + " bytes";
  if (offset < before.bytes)
    return (before.isFreed ? "in memory that is freed: " : "over the end of ") +
           what;
  if (after != allocations.end() && after->first - address <= gap &&
      after->first - address < offset - before.bytes)
    return std::to_string(after->first - address) + " bytes before " +
           after->second.name + " of " + std::to_string(after->second.bytes) +
           " bytes";
  return std::to_string(offset - before.bytes) + " bytes past the end of " +
         what;
}
