//===- State.cpp - a rank's weights in memory -----------------------------===//
//
// The weights file is a .safetensors that holds each tensor in local shape.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/State.h"

#include "runtime/Arrays.h"
#include "runtime/support/Dtype.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unordered_map>

namespace cleave::rt {

RankState::RankState(const Manifest &manifest, int rank) {
  const ProgramInfo &program = manifest.programOf(rank);
  if (program.state.empty())
    return;
  std::filesystem::path file =
      manifest.directory / manifest.ranks[rank].weights;
  std::unordered_map<std::string, SafetensorsEntry> table;
  for (SafetensorsEntry &entry : readSafetensorsTable(file))
    table.emplace(entry.name, std::move(entry));
  map(file);
  for (const StateInfo &info : program.state) {
    auto found = table.find(info.name);
    if (found == table.end())
      fail(ExitMismatch, "'{}' does not hold '{}' of rank {}", file.string(),
           info.name, rank);
    const SafetensorsEntry &entry = found->second;
    if (entry.dtype != info.dtype || entry.shape != info.shape)
      fail(ExitMismatch, "'{}' holds '{}' as {} {}, expected {} {}",
           file.string(), info.name, dtypeInfo(entry.dtype).name,
           listed(entry.shape), dtypeInfo(info.dtype).name, listed(info.shape));
    place(info, entry.offset, entry.bytes);
  }
}

RankState::~RankState() {
  if (mapped)
    munmap(mapped, mappedBytes);
}

void RankState::map(const std::filesystem::path &file) {
  int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  mappedBytes = std::filesystem::file_size(file);
  void *memory =
      mmap(nullptr, mappedBytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  int error = errno;
  close(descriptor);
  if (memory == MAP_FAILED)
    fail(ExitDevice, "cannot map '{}': {}", file.string(),
         std::strerror(error));
  mapped = static_cast<std::byte *>(memory);
  madvise(mapped, mappedBytes, MADV_WILLNEED);
}

void RankState::place(const StateInfo &info, int64_t offset, int64_t bytes) {
  std::byte *address = mapped + offset;
  bool isWritten = info.isMutable || info.setting;
  bool isMapped = !isWritten && offset % 64 == 0;
  if (!isMapped) {
    AlignedBuffer &copy = copies.emplace_back(bytes);
    if (bytes)
      std::memcpy(copy.data(), address, bytes);
    address = copy.data();
  }
  if (!isWritten)
    constants.push_back({address, static_cast<size_t>(bytes), isMapped});
  pointers.push_back(address);
}

void RankState::declareConstants(CleaveContext &context) const {
  for (const Constant &constant : constants)
    context.addConstant(constant.begin, constant.bytes, constant.isMapped);
}

} // namespace cleave::rt
