//===- Access.cpp - find and check the memory that lanes access -----------===//

#include "exec/Access.h"
#include "device/Environment.h"
#include "exec/Block.h"
#include "exec/Decoder.h"

#include <bit>

using namespace cudaemu;
using ptx::Space;

namespace {
/// One instruction's access, lane by lane.
class Resolver {
public:
  Resolver(Warp &w, uint32_t bytes, AccessKind kind, Access &out)
      : w(w), bytes(bytes), kind(kind), out(out) {}
  void lane(unsigned lane, Space space, uint64_t address);

private:
  void global(unsigned lane, uint64_t address);
  void shared(unsigned lane, uint64_t offset);
  void local(unsigned lane, uint64_t offset);
  void checkOrder(unsigned lane, uint64_t address);
  [[noreturn]] void fault(unsigned lane, int code, const std::string &what) {
    w.fault(lane, code, size() + " " + what);
  }
  std::string size() const {
    static const char *const names[] = {"load", "store", "atomic operation"};
    return std::to_string(bytes) + "-byte " + names[static_cast<int>(kind)];
  }
  Warp &w;
  uint32_t bytes;
  AccessKind kind;
  Access &out;
};
} // namespace

static std::string hex(uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

void Resolver::lane(unsigned lane, Space space, uint64_t address) {
  if (address & (bytes - 1))
    fault(lane, 716, "at " + hex(address) + " is misaligned");
  if (space == Space::Generic) {
    switch (address & windowMask) {
    case sharedWindow:
      return shared(lane, address - sharedWindow);
    case localWindow:
      return local(lane, address - localWindow);
    case paramWindow:
      address -= paramWindow;
      space = Space::Param;
      break;
    default:
      return global(lane, address);
    }
  }
  if (space == Space::Shared)
    return shared(lane, address);
  if (space == Space::Local)
    return local(lane, address);
  if (space != Space::Param)
    return global(lane, address);
  const Program &program = w.program();
  const std::vector<char> &entry = w.block->launch.params;
  bool isLaunch = w.depth == 0 && address < entry.size();
  if (address + bytes > (isLaunch ? entry.size() : program.paramBytes))
    fault(lane, 700, "at " + hex(address) + " of the parameters");
  out.at[lane] =
      (isLaunch ? const_cast<char *>(entry.data()) : w.params(w.depth, lane)) +
      address;
  out.marks[lane] = nullptr;
}

void Resolver::global(unsigned lane, uint64_t address) {
  const Memory &memory = *w.block->launch.memory;
  const Allocation *&last = w.lastAllocation;
  if (!last || !last->contains(address, bytes)) {
    const Allocation *found = memory.find(address);
    if (!found || !found->contains(address, bytes))
      fault(lane, 700,
            "at " + hex(address) + " is " + memory.describe(address, bytes));
    last = found;
  }
  out.at[lane] = last->host(address);
  out.marks[lane] = nullptr;
  if (last->isHost)
    return;
  if (w.checksMarks)
    out.marks[lane] = memory.initialised(address);
  if (environment().checks.streams)
    checkOrder(lane, address);
}

void Resolver::checkOrder(unsigned lane, uint64_t address) {
  Uses *uses = w.block->launch.memory->uses(address);
  uint32_t other = kind == AccessKind::Load
                       ? w.order->read(uses, address, bytes)
                       : w.order->write(uses, address, bytes);
  if (other)
    w.fault(
        lane, 719,
        w.order->message(other, kind == AccessKind::Load ? "reads" : "writes"));
}

void Resolver::shared(unsigned lane, uint64_t offset) {
  Block &block = *w.block;
  if (offset >= block.sharedBytes || block.sharedBytes - offset < bytes)
    fault(lane, 700,
          "at " + hex(offset) + " of shared memory, which has " +
              std::to_string(block.sharedBytes) + " bytes");
  out.at[lane] = block.shared.data() + offset;
  out.marks[lane] = w.checksMarks ? block.sharedMarks.data() + offset : nullptr;
  if (!block.shadow.isOn())
    return;
  bool isOrdered =
      kind == AccessKind::Load
          ? block.shadow.read(w, offset, bytes)
          : block.shadow.write(w, offset, bytes, kind == AccessKind::Atomic);
  if (!isOrdered)
    fault(lane, 719,
          "at " + hex(offset) +
              " of shared memory races with another warp: no barrier is "
              "between them");
}

void Resolver::local(unsigned lane, uint64_t offset) {
  if (offset >= w.localBytes || w.localBytes - offset < bytes)
    fault(lane, 700,
          "at " + hex(offset) + " of local memory, which has " +
              std::to_string(w.localBytes) + " bytes");
  size_t at = lane * w.localBytes + offset;
  out.at[lane] = w.local.data() + at;
  out.marks[lane] = w.checksMarks ? w.localMarks.data() + at : nullptr;
}

void cudaemu::resolve(Warp &w, const Inst &i, uint32_t base, int64_t offset,
                      uint32_t bytes, AccessKind kind, Access &out) {
  if (w.checksMarks && (w.marks[base] & w.exec))
    w.faultUninitialised(w.marks[base] & w.exec, "an address");
  const auto *wide = w.reg<uint64_t>(base);
  const auto *narrow = w.reg<uint32_t>(base);
  Resolver resolver(w, bytes, kind, out);
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    if (w.exec >> lane & 1)
      resolver.lane(lane, i.space,
                    i.isWideAddress
                        ? wide[lane] + offset
                        : static_cast<uint32_t>(narrow[lane] + offset));
}

void cudaemu::resolve(Warp &w, const Inst &i, uint32_t bytes, AccessKind kind,
                      Access &out) {
  resolve(w, i, i.a, i.imm, bytes, kind, out);
}
