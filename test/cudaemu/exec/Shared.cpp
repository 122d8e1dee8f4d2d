//===- Shared.cpp - races between barriers --------------------------------===//

#include "exec/Shared.h"
#include "exec/Warp.h"

using namespace cudaemu;

bool SharedShadow::isBefore(const Access &access, const Warp &w,
                            uint8_t bytes) {
  return access.warp == w.index || !(access.bytes & bytes) ||
         access.clock <= w.clocks[access.warp];
}

template <class F>
bool SharedShadow::forCells(size_t offset, size_t bytes, F f) {
  if (offset % 4 == 0 && bytes % 4 == 0) {
    for (size_t k = offset / 4; k < (offset + bytes) / 4; ++k)
      if (!f(cells[k], uint8_t{15}))
        return false;
    return true;
  }
  for (size_t at = offset; at < offset + bytes; ++at)
    if (!f(cells[at / 4], static_cast<uint8_t>(1 << at % 4)))
      return false;
  return true;
}

bool SharedShadow::read(const Warp &w, size_t offset, size_t bytes) {
  uint32_t clock = w.clocks[w.index];
  auto self = static_cast<uint8_t>(w.index);
  return forCells(offset, bytes, [&](Cell &cell, uint8_t which) {
    if (!isBefore(cell.write, w, which))
      return false;
    // Of more than two readers that nothing orders, two are kept.
    Access &read = cell.reads[isBefore(cell.reads[0], w, 15) ? 0 : 1];
    bool isSame = read.warp == self && read.clock == clock;
    auto known = static_cast<uint8_t>(isSame ? read.bytes : 0);
    read = {clock, self, static_cast<uint8_t>(known | which), false};
    return true;
  });
}

bool SharedShadow::write(const Warp &w, size_t offset, size_t bytes,
                         bool isAtomic) {
  uint32_t clock = w.clocks[w.index];
  auto self = static_cast<uint8_t>(w.index);
  return forCells(offset, bytes, [&](Cell &cell, uint8_t which) {
    bool bothAtomic = isAtomic && cell.write.isAtomic;
    if (!(bothAtomic || isBefore(cell.write, w, which)) ||
        !isBefore(cell.reads[0], w, which) ||
        !isBefore(cell.reads[1], w, which))
      return false;
    bool isSame = cell.write.warp == self && cell.write.clock == clock;
    auto known = static_cast<uint8_t>(isSame ? cell.write.bytes : 0);
    cell = {{clock, self, static_cast<uint8_t>(known | which), isAtomic}, {}};
    return true;
  });
}
