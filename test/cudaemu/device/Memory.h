//===- Memory.h - the memory of a device ----------------------------------===//
//
// A device address is no host address: the host faults when it follows one, as
// on a real device. The bytes of the address A are at A + `delta` of the
// allocation. Addresses are not used twice, so that what is used after its
// release is found. New memory is filled with 0xff: NaN for every float type.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace cudaemu {

struct Allocation {
  uint64_t begin = 0, bytes = 0;
  int64_t delta = 0;
  bool isHost = false; ///< Pinned host memory: the device sees its address.
  std::atomic<bool> isFreed = false;
  std::string name;

  bool contains(uint64_t address, uint64_t count) const {
    return address - begin < bytes && bytes - (address - begin) >= count &&
           !isFreed.load(std::memory_order_relaxed);
  }
  char *host(uint64_t address) const {
    return std::bit_cast<char *>(address + delta);
  }
};

/// Who used four bytes of memory last, as numbers of work items (0: nobody).
struct Uses {
  uint32_t writer, readers[2];
};

class Memory {
public:
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Null when the device's memory is used up.
  const Allocation *allocate(uint64_t bytes, uint64_t align, std::string name);
  const Allocation *addHost(void *memory, uint64_t bytes, std::string name);
  /// Whether there was an allocation that began there.
  bool release(uint64_t begin);
  /// The live allocation that holds the address, or null.
  const Allocation *find(uint64_t address) const;
  /// What an address that no allocation holds is near to.
  std::string describe(uint64_t address, uint64_t bytes) const;

  uint64_t capacity() const { return limit; }
  uint64_t used() const { return inUse; }

  /// For each byte of device memory 1 once it is written, otherwise 0.
  uint8_t *initialised(uint64_t address) const {
    return marks + (address - base);
  }
  Uses *uses(uint64_t address) const { return cells + (address - base) / 4; }

private:
  mutable std::mutex mutex;
  std::map<uint64_t, Allocation> allocations;
  uint64_t limit, inUse = 0;
  uint64_t base = 0, next = 0;
  char *data = nullptr;
  uint8_t *marks = nullptr;
  Uses *cells = nullptr;
};

} // namespace cudaemu
