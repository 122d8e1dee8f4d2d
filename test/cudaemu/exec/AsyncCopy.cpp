//===- AsyncCopy.cpp - cp.async -------------------------------------------===//
//
// A copy is made as late as it may be: when its group is waited for. Until then
// the shared memory has what it had before, which is what a program without
// the wait would see now and then.
//
//===----------------------------------------------------------------------===//

#include "exec/Access.h"
#include "exec/Block.h"
#include "exec/Decoder.h"

#include <algorithm>

using namespace cudaemu;
using ptx::Space;
using ptx::Type;

/// [a] of shared memory = `bytes` bytes of [b] of global memory, of which those
/// beyond c (with `mode`) are zero.
static void copyLater(Warp &w, const Inst &i) {
  Access to, from;
  Inst source = i;
  source.space = Space::Global;
  source.isWideAddress = true;
  resolve(w, i, i.bytes, AccessKind::Store, to);
  const auto *sizes = w.reg<uint32_t>(i.c);
  uint32_t lanes = w.exec;
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    if (i.mode && sizes[k] == 0)
      w.exec &= ~(1u << k); // the source is not looked at
  resolve(w, source, i.b, i.offset, i.bytes, AccessKind::Load, from);
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(lanes >> k & 1))
      continue;
    uint32_t size = i.mode ? std::min<uint32_t>(sizes[k], i.bytes) : i.bytes;
    w.openCopies.push_back({to.at[k], to.marks[k], size ? from.at[k] : nullptr,
                            size ? from.marks[k] : nullptr, size, i.bytes});
  }
  w.exec = lanes;
}

static void perform(Warp &w, const AsyncCopy &copy) {
  std::memset(copy.to, 0, copy.bytes);
  std::memcpy(copy.to, copy.from ? copy.from : copy.to, copy.size);
  if (copy.marksTo) {
    std::memset(copy.marksTo, 1, copy.bytes);
    if (copy.marksFrom)
      std::memcpy(copy.marksTo, copy.marksFrom, copy.size);
  }
  Block &block = *w.block;
  if (block.shadow.isOn() &&
      !block.shadow.write(w, copy.to - block.shared.data(), copy.bytes, false))
    w.fault(0, 719,
            "cp.async into shared memory that another warp uses: no barrier "
            "is between them");
}

static void commit(Warp &w, const Inst &) {
  w.copyGroups.push_back(std::move(w.openCopies));
  w.openCopies.clear();
}

/// Completes all groups but the last `imm`.
static void waitForGroups(Warp &w, const Inst &i) {
  while (w.copyGroups.size() > static_cast<size_t>(i.imm)) {
    for (const AsyncCopy &copy : w.copyGroups.front())
      perform(w, copy);
    w.copyGroups.erase(w.copyGroups.begin());
  }
}

static void waitForAll(Warp &w, const Inst &i) {
  commit(w, i);
  waitForGroups(w, i);
}

static void decodeAsyncCopy(Decoder &d) {
  const ptx::Statement &st = d.statement();
  if (!st.has("async") || st.has("bulk") || st.has("mbarrier"))
    d.unsupported();
  if (st.has("commit_group"))
    return void(d.emit(commit));
  if (st.has("wait_all"))
    return void(d.emit(waitForAll));
  if (st.has("wait_group")) {
    d.emit(waitForGroups).imm = static_cast<int64_t>(d.operand(0).bits);
    return;
  }
  Inst from;
  d.address(from, d.operand(1));
  bool hasSize = d.operands() > 3;
  if (hasSize && d.typeOf(d.operand(3)) == Type::Pred)
    d.unsupported(); // ignore-src
  Inst &i = d.emit(copyLater, noResult, noSource, from.a,
                   hasSize ? d.source(3, Type::U32) : noSource);
  i.space = Space::Shared;
  i.bytes = static_cast<uint8_t>(d.operand(2).bits);
  i.mode = hasSize;
  i.marksResult = false;
  i.offset = from.imm;
  d.address(i, d.operand(0));
}

static constexpr Rule rules[] = {{"cp", decodeAsyncCopy}};
std::span<const Rule> cudaemu::asyncCopyRules() { return rules; }
