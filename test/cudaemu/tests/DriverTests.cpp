//===- DriverTests.cpp - streams, events, graphs, errors of calls ---------===//

#include "tests/Device.h"

#include <cstring>

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

namespace {
/// x = 2 x + c for 64 integers.
const char *const affine = R"(
.visible .entry k(.param .u64 x, .param .u32 c) {
  .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [c]; mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3]; mad.lo.u32 %r4, %r3, 2, %r1;
  st.global.u32 [%rd3], %r4; ret;
})";
using Driver = DeviceTest;
} // namespace

// Tests that an event orders two streams, whatever their order by chance.
TEST_F(Driver, EventsOrderStreams) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1));
  cuda::StreamHandle a, b;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, cuda::StreamNonBlocking), 0);
  cuda::EventHandle event;
  ASSERT_EQ(cuEventCreate(&event, cuda::EventDisableTiming), 0);
  int expected = 1;
  for (int i = 0; i < 20; ++i) {
    stream = i % 2 ? a : b;
    if (i) {
      ASSERT_EQ(cuEventRecord(event, i % 2 ? b : a), 0);
      ASSERT_EQ(cuStreamWaitEvent(stream, event, 0), 0);
    }
    ASSERT_EQ(launch(f, 1, 64, x, i), 0);
    expected = 2 * expected + i;
  }
  ASSERT_EQ(cuStreamSynchronize(stream), 0);
  EXPECT_EQ(download<int>(x, 64)[63], expected);
  EXPECT_EQ(cuEventDestroy_v2(event), 0);
  EXPECT_EQ(cuStreamDestroy_v2(a), 0);
  EXPECT_EQ(cuStreamDestroy_v2(b), 0);
}

// Tests that the null stream and blocking streams order each other.
TEST_F(Driver, NullStreamOrdersBlockingStreams) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1));
  cuda::StreamHandle a;
  ASSERT_EQ(cuStreamCreate(&a, 0), 0);
  int expected = 1;
  for (int i = 0; i < 10; ++i) {
    stream = i % 2 ? a : nullptr;
    ASSERT_EQ(launch(f, 1, 64, x, i), 0);
    expected = 2 * expected + i;
  }
  ASSERT_EQ(cuCtxSynchronize(), 0);
  EXPECT_EQ(download<int>(x, 64)[0], expected);
}

// Tests a graph of a fork and a join over two streams, launched three times.
TEST_F(Driver, GraphOfForkAndJoin) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1)), y = upload(std::vector<int>(64, 2));
  cuda::StreamHandle a, b;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, cuda::StreamNonBlocking), 0);
  cuda::EventHandle fork, join;
  ASSERT_EQ(cuEventCreate(&fork, 0), 0);
  ASSERT_EQ(cuEventCreate(&join, 0), 0);
  ASSERT_EQ(cuStreamBeginCapture_v2(a, cuda::CaptureGlobal), 0);
  stream = a;
  EXPECT_EQ(launch(f, 1, 64, x, 1), 0);
  EXPECT_EQ(cuEventRecord(fork, a), 0);
  EXPECT_EQ(cuStreamWaitEvent(b, fork, 0), 0);
  stream = b;
  EXPECT_EQ(launch(f, 1, 64, y, 5), 0);
  EXPECT_EQ(cuEventRecord(join, b), 0);
  EXPECT_EQ(cuStreamWaitEvent(a, join, 0), 0);
  stream = a;
  EXPECT_EQ(launch(f, 1, 64, y, 7), 0);
  cuda::DevicePtr more;
  EXPECT_EQ(cuMemAlloc_v2(&more, 4), cuda::CaptureUnsupported);
  cuda::GraphHandle graph;
  ASSERT_EQ(cuStreamEndCapture(a, &graph), 0);
  size_t nodes = 0;
  EXPECT_EQ(cuGraphGetNodes(graph, nullptr, &nodes), 0);
  EXPECT_EQ(nodes, 3u);
  cuda::GraphExecHandle exec;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
  int ex = 1, ey = 2;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cuGraphLaunch(exec, a), 0);
    ex = 2 * ex + 1;
    ey = 2 * (2 * ey + 5) + 7;
  }
  ASSERT_EQ(cuStreamSynchronize(a), 0);
  EXPECT_EQ(download<int>(x, 64)[5], ex);
  EXPECT_EQ(download<int>(y, 64)[5], ey);
  EXPECT_EQ(cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(cuGraphDestroy(graph), 0);
}

// Tests that a capture whose streams do not join is refused.
TEST_F(Driver, CaptureMustJoin) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1));
  cuda::StreamHandle a, b;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  ASSERT_EQ(cuStreamCreate(&b, cuda::StreamNonBlocking), 0);
  cuda::EventHandle fork;
  ASSERT_EQ(cuEventCreate(&fork, 0), 0);
  ASSERT_EQ(cuStreamBeginCapture_v2(a, cuda::CaptureGlobal), 0);
  EXPECT_EQ(cuEventRecord(fork, a), 0);
  EXPECT_EQ(cuStreamWaitEvent(b, fork, 0), 0);
  stream = b;
  EXPECT_EQ(launch(f, 1, 64, x, 1), 0);
  cuda::GraphHandle graph;
  EXPECT_EQ(cuStreamEndCapture(a, &graph), cuda::CaptureUnjoined);
  ASSERT_EQ(cuStreamBeginCapture_v2(a, cuda::CaptureGlobal), 0);
  EXPECT_EQ(cuStreamSynchronize(a), cuda::CaptureUnsupported);
  EXPECT_EQ(cuStreamEndCapture(a, &graph), cuda::CaptureInvalidated);
}

// Tests that host memory is used when the stream comes to it if it is pinned,
// and before the call returns otherwise.
TEST_F(Driver, PinnedAndPageableCopies) {
  cuda::StreamHandle a;
  ASSERT_EQ(cuStreamCreate(&a, cuda::StreamNonBlocking), 0);
  auto x = upload(std::vector<int>(2, 0));
  int pageable = 7;
  int *pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost_v2(reinterpret_cast<void **>(&pinned), 8), 0);
  cuda::EventHandle gate;
  ASSERT_EQ(cuEventCreate(&gate, 0), 0);
  struct Gate {
    volatile bool isOpen = false;
  } open;
  ASSERT_EQ(cuLaunchHostFunc(
                a,
                [](void *data) {
                  while (!static_cast<Gate *>(data)->isOpen) {
                  }
                },
                &open),
            0);
  pinned[0] = 1;
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(x, &pageable, 4, a), 0);
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(x + 4, pinned, 4, a), 0);
  pageable = 8;
  pinned[0] = 2;
  EXPECT_EQ(cuStreamQuery(a), cuda::NotReady);
  open.isOpen = true;
  EXPECT_EQ(cuStreamSynchronize(a), 0);
  EXPECT_EQ(download<int>(x, 2), (std::vector<int>{7, 2}));
  EXPECT_EQ(cuMemFreeHost(pinned), 0);
}

// Tests that events tell the time between them.
TEST_F(Driver, ElapsedTime) {
  cuda::EventHandle a, b;
  ASSERT_EQ(cuEventCreate(&a, 0), 0);
  ASSERT_EQ(cuEventCreate(&b, 0), 0);
  ASSERT_EQ(cuEventRecord(a, nullptr), 0);
  ASSERT_EQ(cuEventRecord(b, nullptr), 0);
  ASSERT_EQ(cuEventSynchronize(b), 0);
  float time = -1;
  EXPECT_EQ(cuEventElapsedTime_v2(&time, a, b), 0);
  EXPECT_GE(time, 0);
  EXPECT_LT(time, 60000);
}

// Tests that fills and copies on the device give what they say.
TEST_F(Driver, FillsAndCopies) {
  auto x = upload(std::vector<int>(4, 0)), y = upload(std::vector<int>(4, 1));
  ASSERT_EQ(cuMemsetD32_v2(x, 9, 2), 0);
  ASSERT_EQ(cuMemsetD8_v2(x + 8, 1, 4), 0);
  ASSERT_EQ(cuMemcpyDtoD_v2(y, x, 12), 0);
  EXPECT_EQ(download<int>(y, 4), (std::vector<int>{9, 9, 0x01010101, 1}));
}

// Tests a copy of a part of rows, to the host as well.
TEST_F(Driver, CopiesRows) {
  std::vector<int> values(12);
  for (int i = 0; i < 12; ++i)
    values[i] = i;
  auto x = upload(values), y = upload(std::vector<int>(12, -1));
  // Two columns of three rows of four, from column 1 to column 2 of six.
  cuda::Copy2D c{};
  c.fromX = 4;
  c.fromType = c.toType = cuda::DeviceMemory;
  c.fromDevice = x;
  c.fromPitch = 16;
  c.toX = 8;
  c.toDevice = y;
  c.toPitch = 24;
  c.bytes = 8;
  c.rows = 2;
  ASSERT_EQ(cuMemcpy2DAsync_v2(&c, nullptr), 0);
  EXPECT_EQ(download<int>(y, 12),
            (std::vector<int>{-1, -1, 1, 2, -1, -1, -1, -1, 5, 6, -1, -1}));
  int host[4] = {};
  c.toType = cuda::HostMemory;
  c.toHost = host;
  c.toX = 0;
  c.toPitch = 8;
  c.fromY = 1;
  ASSERT_EQ(cuMemcpy2D_v2(&c), 0);
  EXPECT_EQ((std::vector<int>(host, host + 4)),
            (std::vector<int>{5, 6, 9, 10}));
}

// Tests that wrong arguments are refused with a reason.
TEST_F(Driver, RefusesWrongCalls) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1));
  CaptureStderr();
  EXPECT_EQ(launch(f, 1, 2048, x, 1), cuda::InvalidValue);
  shared = 1 << 17;
  EXPECT_EQ(launch(f, 1, 32, x, 1), cuda::InvalidValue);
  std::vector<int> host(65);
  EXPECT_EQ(cuMemcpyDtoH_v2(host.data(), x, 65 * 4), cuda::InvalidValue);
  cuda::ModuleHandle module;
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_80\n"
                                      ".entry k() { wgmma.fence; }"),
            cuda::InvalidPtx);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.entry k() { ret; }\n"
                                      ".entry k() { ret; }"),
            cuda::InvalidPtx);
  EXPECT_EQ(GetCapturedStderr(),
            "cudaemu: cuLaunchKernel: kernel 'k': 2048 threads are too many "
            "for a block\n"
            "cudaemu: cuLaunchKernel: kernel 'k': 131072 bytes of dynamic "
            "shared memory, allowed are 49152\n"
            "cudaemu: cuMemcpyDtoH: 260 bytes of the device: over the end of "
            "an allocation of 256 bytes\n"
            "cudaemu: module: PTX line 3: 'wgmma.fence' is not supported by "
            "the emulator\n"
            "cudaemu: module: PTX line 3: 'k' is defined twice\n");
}

// Tests that of a fat binary the PTX for the highest architecture is run that
// the device can run. Its layout is that of the tool `fatbinary`.
TEST_F(Driver, RunsPtxOfFatBinary) {
  std::string image("\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0\0", 16);
  auto add = [&](uint16_t kind, uint32_t architecture, std::string payload) {
    payload.resize((payload.size() + 8) / 8 * 8);
    std::string header(64, '\0');
    auto put = [&](size_t at, uint64_t value, size_t bytes) {
      std::memcpy(header.data() + at, &value, bytes);
    };
    put(0, kind, 2);
    put(4, header.size(), 4);
    put(8, payload.size(), 8);
    put(28, architecture, 4);
    image += header + payload;
  };
  auto ptx = [](const char *value) {
    return std::string(".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".global .align 4 .u32 value = ") +
           value + ";\n";
  };
  add(2, 90, "\177ELF");
  add(1, 80, ptx("80"));
  add(1, 90, ptx("90"));
  add(1, 120, ptx("120"));
  uint64_t bytes = image.size() - 16;
  std::memcpy(image.data() + 8, &bytes, 8);
  cuda::ModuleHandle module;
  ASSERT_EQ(cuModuleLoadData(&module, image.data()), 0);
  cuda::DevicePtr value;
  size_t size = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&value, &size, module, "value"), 0);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(download<int>(value, 1)[0], 90);
}

// Tests that a context can end while work is on its streams, and that calls
// without a context say so.
TEST_F(Driver, EndsContextWithWork) {
  cuda::FunctionHandle f = kernel(affine);
  auto x = upload(std::vector<int>(64, 1));
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(launch(f, 1, 64, x, i), 0);
  EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
  EXPECT_EQ(cuCtxSynchronize(), cuda::InvalidContext);
  EXPECT_EQ(cuMemAlloc_v2(&x, 4), cuda::InvalidContext);
}

// Tests that a cubin is refused in a way that a program can go on with PTX
// from, and that the error says why.
TEST_F(Driver, RefusesCubin) {
  cuda::ModuleHandle module;
  EXPECT_EQ(cuModuleLoadData(&module, "\177ELF"), cuda::NoBinaryForGpu);
  const char *text;
  EXPECT_EQ(cuGetErrorString(cuda::NoBinaryForGpu, &text), 0);
  EXPECT_STREQ(text, "no kernel image is available for execution on the device "
                     "(the emulator runs PTX, no cubin)");
}

// Tests that entry points are found by the names of the headers.
TEST_F(Driver, FindsEntryPoints) {
  void *function = nullptr;
  int status = -1;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &status), 0);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &status),
            cuda::NotFound);
}
