//===- Bfloat16Test.cpp - roundings to bf16 -------------------------------===//

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

extern "C" __bf16 __truncsfbf2(float value);
extern "C" __bf16 __truncdfbf2(double value);

static int bitsOf(__bf16 value) { return std::bit_cast<uint16_t>(value); }

// Tests ties to even, overflow, and what is not finite.
TEST(Bfloat16, RoundsFloats) {
  EXPECT_EQ(bitsOf(__truncsfbf2(1.0F)), 0x3f80);
  EXPECT_EQ(bitsOf(__truncsfbf2(1.0F + 0x1p-8F)), 0x3f80); // a tie, down
  EXPECT_EQ(bitsOf(__truncsfbf2(1.0F + 0x3p-8F)), 0x3f82); // a tie, up
  EXPECT_EQ(bitsOf(__truncsfbf2(1.0F + 0x1p-8F + 0x1p-20F)), 0x3f81);
  EXPECT_EQ(bitsOf(__truncsfbf2(-3.0e38F)), 0xff62);
  EXPECT_EQ(bitsOf(__truncsfbf2(3.4e38F)), 0x7f80);
  EXPECT_EQ(bitsOf(__truncsfbf2(-INFINITY)), 0xff80);
  EXPECT_EQ(bitsOf(__truncsfbf2(NAN)) & 0x7fc0, 0x7fc0);
}

// Tests that doubles are rounded once: behind a tie of floats more follows.
TEST(Bfloat16, RoundsDoubles) {
  EXPECT_EQ(bitsOf(__truncdfbf2(1.0 + 0x1p-8)), 0x3f80);
  EXPECT_EQ(bitsOf(__truncdfbf2(1.0 + 0x1p-8 + 0x1p-40)), 0x3f81);
  EXPECT_EQ(bitsOf(__truncdfbf2(1.0 + 0x3p-8 - 0x1p-40)), 0x3f81);
  EXPECT_EQ(bitsOf(__truncdfbf2(-1e300)), 0xff80);
  EXPECT_EQ(bitsOf(__truncdfbf2(std::numeric_limits<double>::quiet_NaN())) &
                0x7fc0,
            0x7fc0);
}
