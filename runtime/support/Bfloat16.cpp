//===- Bfloat16.cpp - roundings that LLVM leaves to a library -------------===//
//
// On CPUs without an instruction for it, LLVM calls these compiler-rt functions
// to round to bf16; libgcc has them from version 13 on. Both round to nearest,
// ties to even, and keep NaNs quiet.
//
//===----------------------------------------------------------------------===//

// The names are compiler-rt's.
// NOLINTBEGIN(bugprone-reserved-identifier)

#include <bit>
#include <cmath>
#include <cstdint>

/// The nearest bf16 to a float.
extern "C" __bf16 __truncsfbf2(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  uint32_t top = bits >> 16;
  top = std::isnan(value) ? top | 0x40 : (bits + 0x7fff + (top & 1)) >> 16;
  return std::bit_cast<__bf16>(static_cast<uint16_t>(top));
}

/// The nearest bf16 to a double: first to a float that is rounded to odd, so
/// that the second rounding sees what the first has left (Boldo and Melquiond,
/// "When double rounding is odd", 2005).
extern "C" __bf16 __truncdfbf2(double value) {
  auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded) && !std::isfinite(value))
    return __truncsfbf2(rounded);
  auto bits = std::bit_cast<uint32_t>(rounded);
  if (std::abs(static_cast<double>(rounded)) > std::abs(value))
    --bits; // towards zero
  if (static_cast<double>(std::bit_cast<float>(bits)) != value)
    bits |= 1;
  return __truncsfbf2(std::bit_cast<float>(bits));
}

// NOLINTEND(bugprone-reserved-identifier)
