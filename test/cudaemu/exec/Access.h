//===- Access.h - find and check the memory that lanes access -------------===//
#pragma once

#include "exec/Warp.h"

namespace cudaemu {

enum class AccessKind { Load, Store, Atomic };

/// Of each executing lane where its bytes are. `marks`, where it is not null,
/// has a 1 for each byte that is initialised.
struct Access {
  char *at[lanesOfWarp];
  uint8_t *marks[lanesOfWarp];
};

/// Finds what `[a + imm]` of `bytes` bytes is for each lane. Throws Fault for
/// what is out of bounds, misaligned, unordered, or at an uninitialised
/// address.
void resolve(Warp &w, const Inst &i, uint32_t bytes, AccessKind kind,
             Access &out);
/// The same for the base address in slot `base`.
void resolve(Warp &w, const Inst &i, uint32_t base, int64_t offset,
             uint32_t bytes, AccessKind kind, Access &out);

ptx::Space spaceOf(const ptx::Statement &st);

} // namespace cudaemu
