//===- Segment.cpp - memory that the ranks of a communicator share --------===//

#include "nccl/Segment.h"
#include "abi/Nccl.h"

#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

using namespace cudaemu;

static constexpr int64_t magic = 0x436c63636e456d75;
static constexpr size_t pageBytes = 4096;

static size_t headerBytes(int ranks) {
  size_t used = ranks * sizeof(Segment::Rank) +
                static_cast<size_t>(ranks) * ranks * sizeof(Segment::Pair);
  return (used + pageBytes - 1) / pageBytes * pageBytes;
}

static size_t segmentBytes(int ranks) {
  return headerBytes(ranks) +
         (2ull * ranks + static_cast<size_t>(ranks) * ranks) *
             Segment::payloadBytes;
}

Segment::Address Segment::create(int ranks) {
  int file = memfd_create("nccl", MFD_CLOEXEC);
  if (file < 0 ||
      (ranks && ftruncate(file, static_cast<off_t>(segmentBytes(ranks))) != 0))
    throw std::runtime_error("cannot make shared memory");
  return {magic, getpid(), file, ranks};
}

Segment::Segment(const Address &address)
    : size(static_cast<int>(address.ranks)), bytes(segmentBytes(size)) {
  if (address.magic != magic)
    throw std::runtime_error("not an id of ncclGetUniqueId");
  std::string path = "/proc/" + std::to_string(address.pid) + "/fd/" +
                     std::to_string(address.file);
  int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  // The id is made before the number of ranks is known: all set the same size.
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
    throw std::runtime_error("the process that made the id is not there");
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_NORESERVE, file, 0);
  close(file);
  if (at == MAP_FAILED)
    throw std::runtime_error("cannot map shared memory");
  memory = static_cast<char *>(at);
}

Segment::~Segment() { munmap(memory, bytes); }

Segment::Rank &Segment::rank(int index) const {
  return reinterpret_cast<Rank *>(memory)[index];
}

Segment::Pair &Segment::pair(int from, int to) const {
  auto *pairs = reinterpret_cast<Pair *>(memory + size * sizeof(Rank));
  return pairs[from * size + to];
}

char *Segment::payload(int rank, uint64_t piece) const {
  return memory + headerBytes(size) + (2ull * rank + piece % 2) * payloadBytes;
}

char *Segment::message(int from, int to) const {
  return memory + headerBytes(size) +
         (2ull * size + static_cast<size_t>(from) * size + to) * payloadBytes;
}

std::string Operation::text() const {
  static const char *const kinds[] = {
      "all_reduce",     "reduce", "broadcast", "all_gather",
      "reduce_scatter", "send",   "recv"};
  static const char *const types[] = {
      "int8",   "uint8",   "int32",   "uint32",  "int64",
      "uint64", "float16", "float32", "float64", "bfloat16"};
  static const char *const ops[] = {"sum", "prod", "max", "min", "avg"};
  std::string made = std::string(kinds[kind]) + " of " + std::to_string(count) +
                     " " + types[type];
  if (op >= 0)
    made += std::string(" (") + ops[op] + ")";
  if (kind == Send || kind == Receive)
    return made + (kind == Send ? " to rank " : " from rank ") +
           std::to_string(root);
  return root < 0 ? made : made + ", root " + std::to_string(root);
}
