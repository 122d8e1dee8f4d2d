//===- Half.h - 16-bit floats ---------------------------------------------===//
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace cudaemu {

using Half = _Float16;

/// A float that keeps the upper half of its bits.
struct BFloat {
  uint16_t bits = 0;

  BFloat() = default;
  explicit BFloat(float value) {
    auto full = std::bit_cast<uint32_t>(value);
    uint32_t rounded = full + 0x7fff + (full >> 16 & 1);
    bits = static_cast<uint16_t>(
        (full & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded >> 16);
  }
  operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

/// The float next to `value` whose last bit says whether it was exact, so that
/// rounding it to fewer bits rounds only once.
inline float roundToOdd(double value) {
  auto near = static_cast<float>(value);
  if (static_cast<double>(near) == value || value != value)
    return near;
  auto bits = std::bit_cast<uint32_t>(near);
  if (bits & 1)
    return near;
  bool isAway = std::fabs(static_cast<double>(near)) > std::fabs(value);
  return std::bit_cast<float>(isAway ? bits - 1 : bits + 1);
}

} // namespace cudaemu
