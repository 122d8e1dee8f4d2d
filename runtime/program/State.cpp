//===- State.cpp - a rank's weights in memory -----------------------------===//
//
// The weights file is a .safetensors that holds each tensor in local shape.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/State.h"

#include "runtime/Arrays.h"
#include "runtime/support/Dtype.h"

#include <cstring>
#include <unordered_map>

namespace cleave::rt {

RankState::RankState(const Manifest &manifest, int rank) {
  const ProgramInfo &program = manifest.programOf(rank);
  if (program.state.empty())
    return;
  std::filesystem::path path =
      manifest.directory / manifest.ranks[rank].weights;
  std::unordered_map<std::string, SafetensorsEntry> table;
  for (SafetensorsEntry &entry : readSafetensorsTable(path))
    table.emplace(entry.name, std::move(entry));
  file.emplace(path);
  readAhead(file->bytes());
  for (const StateInfo &info : program.state) {
    auto found = table.find(info.name);
    if (found == table.end())
      fail(ExitMismatch, "'{}' does not hold '{}' of rank {}", path.string(),
           info.name, rank);
    const SafetensorsEntry &entry = found->second;
    if (entry.dtype != info.dtype || entry.shape != info.shape)
      fail(ExitMismatch, "'{}' holds '{}' as {} {}, expected {} {}",
           path.string(), info.name, dtypeInfo(entry.dtype).name,
           listed(entry.shape), dtypeInfo(info.dtype).name, listed(info.shape));
    place(info, entry.offset, entry.bytes);
  }
}

void RankState::place(const StateInfo &info, int64_t offset, int64_t bytes) {
  // What is mapped is constant; only copies are written.
  auto *address = const_cast<std::byte *>(file->bytes().data()) + offset;
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
