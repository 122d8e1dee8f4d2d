//===- Shared.cpp - races between barriers --------------------------------===//

#include "exec/Shared.h"
#include "exec/Warp.h"

using namespace cudaemu;

bool SharedShadow::isBefore(const Access &access, const Warp &w) {
  return access.warp == w.index || access.clock <= w.clocks[access.warp];
}

bool SharedShadow::read(const Warp &w, size_t offset, size_t bytes) {
  Access made{w.clocks[w.index], static_cast<uint8_t>(w.index), false};
  for (size_t at = offset; at < offset + bytes; ++at) {
    Cell &cell = cells[at];
    if (!isBefore(cell.write, w))
      return false;
    // Of more than two readers that nothing orders, two are kept.
    cell.reads[isBefore(cell.reads[0], w) ? 0 : 1] = made;
  }
  return true;
}

bool SharedShadow::write(const Warp &w, size_t offset, size_t bytes,
                         bool isAtomic) {
  Access made{w.clocks[w.index], static_cast<uint8_t>(w.index), isAtomic};
  for (size_t at = offset; at < offset + bytes; ++at) {
    Cell &cell = cells[at];
    bool bothAtomic = isAtomic && cell.write.isAtomic;
    if (!(bothAtomic || isBefore(cell.write, w)) ||
        !isBefore(cell.reads[0], w) || !isBefore(cell.reads[1], w))
      return false;
    cell = {made, {}};
  }
  return true;
}
