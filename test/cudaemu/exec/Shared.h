//===- Shared.h - what the checkers know of a block's shared memory -------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudaemu {

struct Warp;

/// Finds accesses of two warps to the same byte, one of them a write, that no
/// barrier orders. Warps have vector clocks; a barrier joins those of its
/// warps. Clocks go on from block to block, so that nothing is cleared. A cell
/// is kept for four bytes: of what different warps do to different bytes of
/// them, only the last one is known.
class SharedShadow {
public:
  void resize(size_t bytes) { cells.resize((bytes + 3) / 4); }
  bool isOn() const { return !cells.empty(); }
  /// Notes the access; whether it is ordered after all others that matter.
  bool read(const Warp &w, size_t offset, size_t bytes);
  bool write(const Warp &w, size_t offset, size_t bytes, bool isAtomic);

private:
  struct Access {
    uint32_t clock = 0;
    uint8_t warp = 0;
    uint8_t bytes = 0; ///< A bit for each byte of the cell.
    bool isAtomic = false;
  };
  struct Cell {
    Access write, reads[2];
  };
  static bool isBefore(const Access &access, const Warp &w, uint8_t bytes);
  /// Calls f(cell, its bytes) until it gives false.
  template <class F> bool forCells(size_t offset, size_t bytes, F f);
  std::vector<Cell> cells;
};

} // namespace cudaemu
