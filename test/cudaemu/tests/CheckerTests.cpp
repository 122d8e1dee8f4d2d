//===- CheckerTests.cpp - each class of fault in a wrong program ----------===//

#include "tests/Device.h"

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

namespace {
class Checker : public DeviceTest {
protected:
  /// Waits; the line that the fault prints, after the call that returns it.
  std::string fault(int expected) {
    CaptureStderr();
    EXPECT_EQ(cuCtxSynchronize(), expected);
    std::string line = GetCapturedStderr();
    // The context is lost.
    cuda::DevicePtr more;
    EXPECT_EQ(cuMemAlloc_v2(&more, 4), expected);
    return line;
  }
};
/// y[i + shift bytes] = x[i]
const char *const shifted = R"(
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 shift) {
  .reg .b32 %r<6>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [shift];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; cvt.u64.u32 %rd4, %r1;
  add.s64 %rd5, %rd1, %rd3; add.s64 %rd6, %rd2, %rd3; add.s64 %rd6, %rd6, %rd4;
  ld.global.u32 %r3, [%rd5]; st.global.u32 [%rd6], %r3; ret;
})";
} // namespace

TEST_F(Checker, OutOfBounds) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(32, 1));
  ASSERT_EQ(launch(f, 1, 32, x, y, 8), 0);
  std::string line = fault(cuda::IllegalAddress);
  EXPECT_NE(line.find("cudaemu: kernel 'k' block (0,0,0) thread (30,0,0): "
                      "4-byte store at 0x"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("is 0 bytes past the end of an allocation of 128 bytes"),
            std::string::npos)
      << line;
}

TEST_F(Checker, UseAfterFree) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(32, 1));
  ASSERT_EQ(cuMemFree_v2(y), 0);
  ASSERT_EQ(launch(f, 1, 32, x, y, 0), 0);
  EXPECT_NE(fault(cuda::IllegalAddress)
                .find("is in memory that is freed: an allocation of 128 bytes"),
            std::string::npos);
}

TEST_F(Checker, Misaligned) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(40, 1));
  ASSERT_EQ(launch(f, 1, 32, x, y, 2), 0);
  EXPECT_NE(fault(cuda::MisalignedAddress).find("is misaligned"),
            std::string::npos);
}

TEST_F(Checker, MissingEventWait) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(32, 1)),
       z = upload(std::vector<int>(32, 1));
  cuda::StreamHandle a, b;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, cuda::StreamNonBlocking), 0);
  stream = a;
  ASSERT_EQ(launch(f, 1, 32, x, y, 0), 0);
  stream = b;
  ASSERT_EQ(launch(f, 1, 32, y, z, 0), 0);
  std::string line = fault(cuda::LaunchFailed);
  EXPECT_NE(line.find("memory that kernel 'k' uses, and nothing orders them"),
            std::string::npos)
      << line;
}

// Tests that a copy that nothing orders with a kernel is found, whichever of
// them runs first.
TEST_F(Checker, MissingSynchronisationBeforeCopy) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(32, 1));
  ASSERT_EQ(cuStreamCreate(&stream, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(launch(f, 1, 32, x, y, 0), 0);
  std::vector<int> host(32);
  CaptureStderr();
  int copied = cuMemcpyDtoH_v2(host.data(), y, 128);
  EXPECT_TRUE(copied == 0 || copied == cuda::LaunchFailed);
  EXPECT_EQ(cuCtxSynchronize(), cuda::LaunchFailed);
  EXPECT_NE(GetCapturedStderr().find("nothing orders them"), std::string::npos);
}

// Tests that branches of a graph that use the same memory are found.
TEST_F(Checker, UnorderedBranchesOfGraph) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1)), y = upload(std::vector<int>(32, 1)),
       z = upload(std::vector<int>(32, 1));
  cuda::StreamHandle a, b;
  cuda::EventHandle fork, join;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuEventCreate(&fork, 0), 0);
  ASSERT_EQ(cuEventCreate(&join, 0), 0);
  ASSERT_EQ(cuStreamBeginCapture_v2(a, cuda::CaptureGlobal), 0);
  EXPECT_EQ(cuEventRecord(fork, a), 0);
  EXPECT_EQ(cuStreamWaitEvent(b, fork, 0), 0);
  stream = a;
  EXPECT_EQ(launch(f, 1, 32, x, y, 0), 0);
  stream = b;
  EXPECT_EQ(launch(f, 1, 32, y, z, 0), 0);
  EXPECT_EQ(cuEventRecord(join, b), 0);
  EXPECT_EQ(cuStreamWaitEvent(a, join, 0), 0);
  cuda::GraphHandle graph;
  cuda::GraphExecHandle exec;
  ASSERT_EQ(cuStreamEndCapture(a, &graph), 0);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
  ASSERT_EQ(cuGraphLaunch(exec, a), 0);
  EXPECT_NE(fault(cuda::LaunchFailed).find("nothing orders them"),
            std::string::npos);
}

// Tests that an uninitialised value may be moved, but not decided upon.
TEST_F(Checker, UninitialisedMemory) {
  cuda::FunctionHandle f = kernel(shifted);
  auto x = upload(std::vector<int>(32, 1));
  cuda::DevicePtr y, z;
  ASSERT_EQ(cuMemAlloc_v2(&y, 128), 0);
  ASSERT_EQ(cuMemAlloc_v2(&z, 128), 0);
  ASSERT_EQ(launch(f, 1, 31, x, y, 0), 0);
  ASSERT_EQ(launch(f, 1, 32, y, z, 0), 0);
  ASSERT_EQ(cuCtxSynchronize(), 0);
  std::vector<int> host(32);
  EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), z, 124), 0);
  CaptureStderr();
  EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), z, 128), cuda::LaunchFailed);
  EXPECT_EQ(GetCapturedStderr(),
            "cudaemu: cuMemcpyDtoH: read of 128 bytes is of uninitialised "
            "memory, from byte 124 on (an allocation)\n");
}

TEST_F(Checker, UninitialisedCondition) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 x) {
  .reg .b32 %r<6>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [x]; ld.global.u32 %r1, [%rd1];
  add.u32 %r2, %r1, 1; setp.gt.u32 %p1, %r2, 7;
  @%p1 st.global.u32 [%rd1], 1; ret;
})");
  cuda::DevicePtr x;
  ASSERT_EQ(cuMemAlloc_v2(&x, 128), 0);
  ASSERT_EQ(launch(f, 1, 1, x), 0);
  EXPECT_NE(fault(cuda::LaunchFailed)
                .find("a condition depends on uninitialised memory"),
            std::string::npos);
}

// Tests that the neighbour's value in shared memory needs a barrier.
TEST_F(Checker, SharedMemoryRace) {
  const char *const neighbour = R"(
.visible .entry k(.param .u64 y, .param .u32 waits) {
  .shared .align 4 .b8 tile[256];
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [y]; ld.param.u32 %r1, [waits]; mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r2, 2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;
  st.shared.u32 [%r4], %r2;
  setp.eq.u32 %p1, %r1, 0; @%p1 bra next; bar.sync 0;
next:
  xor.b32 %r5, %r3, 128; mov.u32 %r6, tile; add.u32 %r6, %r6, %r5;
  ld.shared.u32 %r7, [%r6]; cvt.u64.u32 %rd2, %r3; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7; ret;
})";
  cuda::FunctionHandle f = kernel(neighbour);
  auto y = upload(std::vector<int>(64, -1));
  ASSERT_EQ(launch(f, 1, 64, y, 1), 0);
  EXPECT_EQ(download<int>(y, 64)[3], 35);
  ASSERT_EQ(launch(f, 1, 64, y, 0), 0);
  EXPECT_NE(fault(cuda::LaunchFailed)
                .find("of shared memory races with another warp"),
            std::string::npos);
}

TEST_F(Checker, BarrierInDivergentCode) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k() {
  .reg .b32 %r<3>; .reg .pred %p<3>;
  mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 15; @%p1 bra end; bar.sync 0;
end:
  bar.sync 0; ret;
})");
  ASSERT_EQ(launch(f, 1, 32), 0);
  EXPECT_NE(fault(cuda::LaunchFailed).find("barrier in divergent code"),
            std::string::npos);
}

TEST_F(Checker, BarrierThatNeverCompletes) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k() {
  .reg .b32 %r<3>; .reg .pred %p<3>;
  mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; @%p1 bra other;
  bar.sync 1; ret;
other:
  bar.sync 2; ret;
})");
  ASSERT_EQ(launch(f, 1, 64), 0);
  EXPECT_NE(fault(cuda::LaunchTimeout).find("barriers that never complete"),
            std::string::npos);
}

TEST_F(Checker, ShuffleFromAbsentLane) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k() {
  .reg .b32 %r<3>; .reg .pred %p<3>;
  mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 15; @%p1 bra end;
  shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
end:
  ret;
})");
  ASSERT_EQ(launch(f, 1, 32), 0);
  EXPECT_NE(fault(cuda::LaunchFailed).find("is in the member mask, but not"),
            std::string::npos);
}

// Tests that what a cp.async brings cannot be taken before it is waited for.
TEST_F(Checker, AsyncCopyWithoutWait) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 x) {
  .shared .align 16 .b8 tile[16];
  .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [x]; mov.u32 %r1, tile;
  cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group;
  ld.shared.u32 %r2, [%r1]; setp.eq.u32 %p1, %r2, 1;
  @%p1 st.global.u32 [%rd1], 2;
  ret;
})");
  auto x = upload(std::vector<int>{1});
  ASSERT_EQ(launch(f, 1, 1, x), 0);
  EXPECT_NE(fault(cuda::LaunchFailed).find("uninitialised memory"),
            std::string::npos);
}

// Tests that of two warps one must wait before the other's copy overwrites.
TEST_F(Checker, AsyncCopyRace) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 x) {
  .shared .align 16 .b8 tile[256];
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [x]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2;
  mov.u32 %r3, tile; add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r1;
  bar.sync 0;
  ld.shared.u32 %r5, [%r3+252];
  setp.ne.u32 %p1, %r1, 63;
  @!%p1 cp.async.ca.shared.global [%r3+252], [%rd1], 4;
  cp.async.wait_all;
  ret;
})");
  auto x = upload(std::vector<int>{1});
  ASSERT_EQ(launch(f, 1, 64, x), 0);
  EXPECT_NE(fault(cuda::LaunchFailed).find("races with another warp"),
            std::string::npos);
}
