//===- WarpTests.cpp - what lanes and warps do together, and data ---------===//

#include "tests/Device.h"

#include <bit>

namespace {
/// Runs code in which thread i (%r1, and its lane %r2) leaves %r0, of which
/// thread i's value is returned.
class Warps : public DeviceTest {
protected:
  std::vector<uint32_t> run(const std::string &code, unsigned threads,
                            const std::string &before = "") {
    cuda::FunctionHandle f = kernel(before + R"(
.visible .entry k(.param .u64 y) {
  .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<8>; .reg .f32 %f<4>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; mov.u32 %r0, 0;
)" + code + R"(
  ld.param.u64 %rd6, [y]; mul.wide.u32 %rd7, %r1, 4; add.s64 %rd7, %rd6, %rd7;
  st.global.u32 [%rd7], %r0;
  ret;
})");
    auto y = upload(std::vector<uint32_t>(threads, ~0u));
    EXPECT_EQ(launch(f, 1, threads, y), 0);
    return download<uint32_t>(y, threads);
  }
};
} // namespace

// Tests the four shuffles, within segments of 8 lanes as well.
TEST_F(Warps, Shuffles) {
  auto up = run("shfl.sync.up.b32 %r0|%p1, %r2, 3, 0, -1;"
                "@!%p1 mov.u32 %r0, 99;",
                32);
  auto down = run("shfl.sync.down.b32 %r0|%p1, %r2, 3, 0x181f, -1;"
                  "@!%p1 mov.u32 %r0, 99;",
                  32);
  auto butterfly = run("shfl.sync.bfly.b32 %r0, %r2, 5, 31, -1;", 32);
  auto index = run("shfl.sync.idx.b32 %r0, %r2, 2, 0x181f, -1;", 32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane < 3 ? 99 : lane - 3);
    EXPECT_EQ(down[lane], lane % 8 > 4 ? 99 : lane + 3);
    EXPECT_EQ(butterfly[lane], lane ^ 5);
    EXPECT_EQ(index[lane], lane / 8 * 8 + 2);
  }
}

// Tests votes, matches and reductions of the even lanes.
TEST_F(Warps, VotesMatchesAndReductions) {
  const std::string even = "and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 1;"
                           "@%p1 bra join;";
  auto on = [&](const std::string &code) {
    return run(even + code + "join:", 32);
  };
  constexpr uint32_t evens = 0x55555555;
  auto ballot = on("setp.lt.u32 %p2, %r2, 9;"
                   "vote.sync.ballot.b32 %r0, %p2, 0x55555555;");
  auto all = on("setp.lt.u32 %p2, %r2, 31; vote.sync.all.pred %p3, %p2, "
                "0x55555555; selp.u32 %r0, 1, 2, %p3;");
  auto any = on("setp.lt.u32 %p2, %r2, 31; vote.sync.any.pred %p3, !%p2, "
                "0x55555555; selp.u32 %r0, 1, 2, %p3;");
  auto active = on("activemask.b32 %r0;");
  auto match = on("shr.u32 %r4, %r2, 3; match.any.sync.b32 %r0, %r4, "
                  "0x55555555;");
  auto sum = on("redux.sync.add.u32 %r0, %r2, 0x55555555;");
  auto least = on("neg.s32 %r4, %r2; redux.sync.min.s32 %r0, %r4, 0x55555555;");
  auto bits = on("redux.sync.or.b32 %r0, %r2, 0x55555555;");
  for (uint32_t lane = 0; lane < 32; lane += 2) {
    EXPECT_EQ(ballot[lane], evens & 0x1ffu);
    EXPECT_EQ(all[lane], 1u);
    EXPECT_EQ(any[lane], 2u);
    EXPECT_EQ(active[lane], evens);
    EXPECT_EQ(match[lane], evens & (0xffu << lane / 8 * 8));
    EXPECT_EQ(sum[lane], 240u);
    EXPECT_EQ(static_cast<int>(least[lane]), -30);
    EXPECT_EQ(bits[lane], 30u);
    EXPECT_EQ(sum[lane + 1], 0u);
  }
}

// Tests barriers that reduce over the block.
TEST_F(Warps, ReducingBarriers) {
  auto count =
      run("setp.lt.u32 %p1, %r1, 70; bar.red.popc.u32 %r0, 0, %p1;", 96);
  auto all = run("setp.lt.u32 %p1, %r1, 70; bar.red.and.pred %p2, 0, %p1;"
                 "selp.u32 %r0, 1, 2, %p2;",
                 96);
  auto any = run("setp.lt.u32 %p1, %r1, 70; bar.red.or.pred %p2, 0, !%p1;"
                 "selp.u32 %r0, 1, 2, %p2;",
                 96);
  EXPECT_EQ(count, std::vector<uint32_t>(96, 70));
  EXPECT_EQ(all, std::vector<uint32_t>(96, 2));
  EXPECT_EQ(any, std::vector<uint32_t>(96, 1));
}

// Tests a warp that produces for another one, which waits at a named barrier.
TEST_F(Warps, ArriveAndWait) {
  auto got = run(R"(
  setp.lt.u32 %p1, %r1, 32; @%p1 bra consumer;
  shl.b32 %r3, %r2, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;
  st.shared.u32 [%r4], %r1; bar.arrive 1, 64; bra join;
consumer:
  bar.sync 1, 64;
  shl.b32 %r3, %r2, 2; mov.u32 %r4, tile; sub.u32 %r4, %r4, %r3;
  ld.shared.u32 %r0, [%r4+124];
join:
)",
                 64, ".shared .align 4 .b8 tile[128];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(got[lane], 63 - lane);
}

// Tests atomics that return what was there: a counter that wraps, an exchange,
// and a lock-free sum by compare and swap.
TEST_F(Warps, Atomics) {
  auto got = run(R"(
  mov.u32 %r3, cell;
  atom.global.inc.u32 %r0, [counter], 4;
  atom.shared.exch.b32 %r4, [%r3], %r1;
  ld.global.u32 %r5, [total];
again:
  add.u32 %r6, %r5, %r1; mov.u32 %r7, %r5;
  atom.global.cas.b32 %r5, [total], %r7, %r6;
  setp.ne.u32 %p1, %r5, %r7; @%p1 bra again;
  bar.sync 0; ld.global.u32 %r8, [total]; shl.b32 %r8, %r8, 8; add.u32 %r0, %r0, %r8;
)",
                 64,
                 ".global .align 4 .u32 counter; .global .align 4 .u32 total;"
                 ".shared .align 4 .u32 cell;");
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(got[i], (63 * 64 / 2) << 8 | i % 5);
}

// Tests a jump by a table, with lanes of each target.
TEST_F(Warps, IndexedBranch) {
  auto got = run(R"(
  rem.u32 %r3, %r1, 3;
table: .branchtargets first, second, third;
  brx.idx %r3, table;
first:
  mov.u32 %r0, 100; bra join;
second:
  mov.u32 %r0, 200; bra join;
third:
  mov.u32 %r0, 300;
join:
  add.u32 %r0, %r0, %r1;
)",
                 48);
  for (uint32_t i = 0; i < 48; ++i)
    EXPECT_EQ(got[i], 100 * (i % 3 + 1) + i);
}

// Tests constants, initialised variables and pointers among them.
TEST_F(Warps, InitialisedData) {
  auto got = run(R"(
  rem.u32 %r3, %r1, 4; mul.wide.u32 %rd1, %r3, 4; mov.u64 %rd2, table;
  add.s64 %rd1, %rd1, %rd2; ld.const.u32 %r4, [%rd1];
  ld.global.u64 %rd3, [pointer]; ld.global.f32 %f1, [%rd3];
  ld.global.u8 %r5, [bytes+2]; cvt.rni.u32.f32 %r6, %f1;
  add.u32 %r0, %r4, %r5; add.u32 %r0, %r0, %r6;
)",
                 8, R"(
.const .align 4 .u32 table[4] = {10, 20, 30, 0x28};
.global .align 4 .f32 values[3] = {0f3F800000, 2.0, 0f40400000};
.global .align 8 .u64 pointer = generic(values)+8;
.global .align 1 .b8 bytes[4] = {1, 2, 200};
)");
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(got[i], 10 * (i % 4 + 1) + 200 + 3);
}

// Tests loads and stores of vectors, and of registers wider than the memory.
TEST_F(Warps, VectorsAndNarrowAccesses) {
  auto got = run(R"(
  mov.u64 %rd1, data; mul.wide.u32 %rd2, %r1, 16; add.s64 %rd1, %rd1, %rd2;
  add.u32 %r3, %r1, 0x1f0; st.global.v4.u32 [%rd1], {%r3, %r1, %r3, %r1};
  ld.global.v2.u32 {%r4, %r5}, [%rd1+8];
  ld.global.s8 %r6, [%rd1]; ld.global.u16 %r7, [%rd1];
  st.global.u8 [%rd1+1], %r5; ld.global.u32 %r8, [%rd1];
  sub.u32 %r0, %r4, %r5; add.u32 %r0, %r0, %r6; add.u32 %r0, %r0, %r7; add.u32 %r0, %r0, %r8;
)",
                 8, ".global .align 16 .b8 data[128];");
  for (uint32_t i = 0; i < 8; ++i)
    EXPECT_EQ(got[i], 0x1f0u +
                          static_cast<uint32_t>(static_cast<int8_t>(0xf0 + i)) +
                          (0x1f0 + i) + (0xf0 + i + (i << 8)));
}

// Tests predicates in pairs and comparisons of floats with NaN.
TEST_F(Warps, Comparisons) {
  auto got = run(R"(
  cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f7FC00000;
  setp.lt.f32 %p1, %f1, %f2; selp.u32 %r3, 1, 0, %p1; or.b32 %r0, %r0, %r3;
  setp.ltu.f32 %p1, %f1, %f2; selp.u32 %r3, 2, 0, %p1; or.b32 %r0, %r0, %r3;
  setp.nan.f32 %p1, %f1, %f2; selp.u32 %r3, 4, 0, %p1; or.b32 %r0, %r0, %r3;
  set.gt.u32.f32 %r3, %f1, 0f3F000000; and.b32 %r3, %r3, 8; or.b32 %r0, %r0, %r3;
  sub.s32 %r4, %r1, 1; slct.u32.s32 %r3, 16, 32, %r4; or.b32 %r0, %r0, %r3;
  testp.finite.f32 %p1, %f2; selp.u32 %r3, 64, 0, %p1; or.b32 %r0, %r0, %r3;
  copysign.f32 %f3, 0fBF800000, %f1; setp.lt.f32 %p1, %f3, 0f00000000;
  selp.u32 %r3, 128, 0, %p1; or.b32 %r0, %r0, %r3;
)",
                 2);
  EXPECT_EQ(got[0], 2u + 4 + 32);
  EXPECT_EQ(got[1], 2u + 4 + 8 + 16 + 128);
}
