//===- Handlers.h - handlers that several files name ----------------------===//
#pragma once

#include "exec/Warp.h"

namespace cudaemu {

void branch(Warp &w, const Inst &i);
void branchIndexed(Warp &w, const Inst &i);
void exitLanes(Warp &w, const Inst &i);
void leaveFunction(Warp &w, const Inst &i);
/// Calls `inner` with another rounding mode (bits 0-1 as in MXCSR) or with
/// subnormals flushed to zero (bit 2).
void rounded(Warp &w, const Inst &i);
/// `d = a` for values of 1, 2, 4 and 8 bytes.
Handler copyOf(unsigned bytes);

/// Whether `list` holds places in the code or of parameters instead of slots.
inline bool isPlaceList(const Inst &i) {
  return i.run == branchIndexed || i.callee;
}

} // namespace cudaemu
