//===- KernelTests.cpp - whole kernels: control flow, memory, blocks ------===//

#include "tests/Device.h"

#include <numeric>

using Kernels = DeviceTest;

// Tests elementwise code with a guard at the end: y = a * x + y.
TEST_F(Kernels, GuardedElementwise) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.s32 %p1, %r5, %r1;
  @%p1 bra $done;
  cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
  ld.global.nc.f32 %f2, [%rd6]; ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
$done:
  ret;
})");
  std::vector<float> x(1000), y(1000, 1);
  std::iota(x.begin(), x.end(), 0.0f);
  auto px = upload(x), py = upload(y);
  ASSERT_EQ(launch(f, 8, 128, 2.0f, px, py, 1000), 0);
  std::vector<float> got = download<float>(py, 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(got[i], 2.0f * i + 1);
}

// Tests a sum over a block: shuffles in warps, then shared memory.
TEST_F(Kernels, BlockReduction) {
  cuda::FunctionHandle f = kernel(R"(
.shared .align 4 .b8 part[32];
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .pred %p<4>; .reg .f32 %f<20>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  mov.b32 %r2, %f1; shfl.sync.bfly.b32 %r3|%p1, %r2, 16, 31, -1; mov.b32 %f2, %r3; add.f32 %f3, %f1, %f2;
  mov.b32 %r2, %f3; shfl.sync.bfly.b32 %r3, %r2, 8, 31, -1; mov.b32 %f2, %r3; add.f32 %f3, %f3, %f2;
  mov.b32 %r2, %f3; shfl.sync.down.b32 %r3, %r2, 4, 31, -1; mov.b32 %f2, %r3; add.f32 %f3, %f3, %f2;
  mov.b32 %r2, %f3; shfl.sync.down.b32 %r3, %r2, 2, 31, -1; mov.b32 %f2, %r3; add.f32 %f3, %f3, %f2;
  mov.b32 %r2, %f3; shfl.sync.down.b32 %r3, %r2, 1, 31, -1; mov.b32 %f2, %r3; add.f32 %f3, %f3, %f2;
  and.b32 %r4, %r1, 31; setp.ne.s32 %p2, %r4, 0;
  shr.u32 %r5, %r1, 3; and.b32 %r5, %r5, 28;
  mov.u32 %r6, part; add.s32 %r7, %r6, %r5;
  @!%p2 st.shared.f32 [%r7], %f3;
  bar.sync 0;
  setp.ne.s32 %p3, %r1, 0;
  @%p3 bra $end;
  mov.f32 %f4, 0f00000000; mov.u32 %r8, 0;
$loop:
  add.s32 %r7, %r6, %r8;
  ld.shared.f32 %f5, [%r7];
  add.f32 %f4, %f4, %f5;
  add.s32 %r8, %r8, 4;
  setp.lt.u32 %p3, %r8, 32;
  @%p3 bra $loop;
  st.global.f32 [%rd2], %f4;
$end:
  ret;
})");
  std::vector<float> x(256);
  std::iota(x.begin(), x.end(), 1.0f);
  auto px = upload(x), py = upload(std::vector<float>{0});
  ASSERT_EQ(launch(f, 1, 256, px, py), 0);
  EXPECT_EQ(download<float>(py, 1)[0], 256 * 257 / 2);
}

// Tests loops whose lanes run different times, one inside the other, with an
// exit in the middle: lane i counts the pairs a <= b <= i, odd lanes exit.
TEST_F(Kernels, DivergentLoops) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 y) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r2, 0; mov.u32 %r3, 0;
  and.b32 %r5, %r1, 1; setp.eq.u32 %p3, %r5, 1;
  @%p3 exit;
outer:
  mov.u32 %r4, 0;
inner:
  add.u32 %r3, %r3, 1; add.u32 %r4, %r4, 1;
  setp.le.u32 %p1, %r4, %r2; @%p1 bra inner;
  add.u32 %r2, %r2, 1;
  setp.le.u32 %p2, %r2, %r1; @%p2 bra outer;
  st.global.u32 [%rd3], %r3;
  ret;
})");
  auto py = upload(std::vector<int>(48, -1));
  ASSERT_EQ(launch(f, 1, 48, py), 0);
  std::vector<int> got = download<int>(py, 48);
  for (int i = 0; i < 48; ++i)
    EXPECT_EQ(got[i], i % 2 ? -1 : (i + 1) * (i + 2) / 2) << i;
}

// Tests blocks and grids of three dimensions.
TEST_F(Kernels, ThreeDimensions) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 y) {
  .reg .b32 %r<30>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %ctaid.z;
  mov.u32 %r7, %nctaid.x; mov.u32 %r8, %nctaid.y;
  mov.u32 %r9, %ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z;
  mad.lo.u32 %r12, %r6, %r8, %r5; mad.lo.u32 %r12, %r12, %r7, %r4;
  mad.lo.u32 %r13, %r12, %r11, %r3; mad.lo.u32 %r13, %r13, %r10, %r2; mad.lo.u32 %r13, %r13, %r9, %r1;
  mul.wide.u32 %rd2, %r13, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r13;
  ret;
})");
  int count = 2 * 3 * 2 * 5 * 3 * 3;
  auto py = upload(std::vector<int>(count, -1));
  void *params[] = {&py};
  ASSERT_EQ(cuLaunchKernel(f, 2, 3, 2, 5, 3, 3, 0, nullptr, params, nullptr),
            0);
  std::vector<int> got = download<int>(py, count);
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(got[i], i);
}

// Tests a call with parameters and result, and local memory that is indexed.
TEST_F(Kernels, CallsAndLocalMemory) {
  cuda::FunctionHandle f = kernel(R"(
.func (.param .b32 result) pick(.param .b64 table, .param .b32 at) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [table]; ld.param.u32 %r1, [at];
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  ld.u32 %r2, [%rd3];
  st.param.b32 [result+0], %r2;
  ret;
}
.visible .entry k(.param .u64 y) {
  .local .align 8 .b8 depot[16];
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [y]; mov.u32 %r1, %tid.x;
  mul.lo.u32 %r2, %r1, 10;
  st.local.v2.u32 [%rd1], {%r2, %r1};
  add.u32 %r3, %r2, 1; st.u32 [%rd2+8], %r3;
  add.u32 %r4, %r2, 2; st.u32 [%rd2+12], %r4;
  rem.u32 %r5, %r1, 4;
  { .param .b64 param0; st.param.b64 [param0+0], %rd2;
    .param .b32 param1; st.param.b32 [param1+0], %r5;
    .param .b32 retval0;
    call.uni (retval0), pick, (param0, param1);
    ld.param.b32 %r6, [retval0+0]; }
  mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;
  st.global.u32 [%rd5], %r6;
  ret;
})");
  auto py = upload(std::vector<int>(40, -1));
  ASSERT_EQ(launch(f, 1, 40, py), 0);
  std::vector<int> got = download<int>(py, 40);
  for (int i = 0; i < 40; ++i) {
    int table[] = {10 * i, i, 10 * i + 1, 10 * i + 2};
    EXPECT_EQ(got[i], table[i % 4]) << i;
  }
}

// Tests atomics over blocks, and dynamic shared memory behind a static one.
TEST_F(Kernels, AtomicsAndDynamicShared) {
  cuda::FunctionHandle f = kernel(R"(
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 y) {
  .shared .align 4 .u32 total;
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2; mov.u32 %r3, dynamic; add.u32 %r4, %r3, %r2;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 st.shared.u32 [total], 0;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r4];
  atom.shared.add.u32 %r6, [total], %r5;
  bar.sync 0;
  @!%p1 bra end;
  ld.shared.u32 %r7, [total];
  red.global.add.u32 [%rd1], %r7;
  mov.f32 %f1, 0f3F000000; red.global.add.f32 [%rd1+4], %f1;
  atom.global.max.s32 %r8, [%rd1+8], %ctaid.x;
end:
  ret;
})");
  auto py = upload(std::vector<int>{0, 0, -5});
  shared = 64 * 4;
  ASSERT_EQ(launch(f, 6, 64, py), 0);
  EXPECT_EQ(download<int>(py, 1)[0], 6 * 63 * 64 / 2);
  EXPECT_EQ(download<float>(py, 2)[1], 3.0f);
  EXPECT_EQ(download<int>(py, 3)[2], 5);
}
