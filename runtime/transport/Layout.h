//===- Layout.h - pieces of [outer, k, chunk] tensors ---------------------===//
//
// Collectives move their data in pieces that fit a window. A piece is a range
// of the linear index of [outer, chunk]; in the wide tensor [outer, k, chunk]
// it is, for each member, a few row parts. These helpers copy between the two.
//
// Example: chunk 3, k 2, piece [2, 5) of member 1 is wide[0,1,2],
// wide[1,1,0..1].
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_LAYOUT_H
#define CLEAVE_RUNTIME_TRANSPORT_LAYOUT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cleave::rt {

/// A [outer, k, chunk] tensor by bytes: `chunk` is in bytes here.
struct WideLayout {
  int64_t k;
  int64_t chunk;
};

/// Calls fn(wideOffset, pieceOffset, bytes) for each run of consecutive bytes
/// of member `j`'s part of the piece [begin, begin + length).
template <typename Fn>
void forEachRun(WideLayout wide, int64_t j, int64_t begin, int64_t length,
                Fn &&fn) {
  for (int64_t at = begin, end = begin + length; at < end;) {
    int64_t row = at / wide.chunk, column = at % wide.chunk;
    int64_t run = std::min(wide.chunk - column, end - at);
    fn((row * wide.k + j) * wide.chunk + column, at - begin, run);
    at += run;
  }
}

/// piece <- member j's part of wide.
inline void packPiece(WideLayout wide, int64_t j, int64_t begin, int64_t length,
                      const std::byte *from, std::byte *piece) {
  forEachRun(wide, j, begin, length, [&](int64_t w, int64_t p, int64_t bytes) {
    std::memcpy(piece + p, from + w, bytes);
  });
}

/// member j's part of wide <- piece.
inline void unpackPiece(WideLayout wide, int64_t j, int64_t begin,
                        int64_t length, const std::byte *piece, std::byte *to) {
  forEachRun(wide, j, begin, length, [&](int64_t w, int64_t p, int64_t bytes) {
    std::memcpy(to + w, piece + p, bytes);
  });
}

} // namespace cleave::rt

#endif
