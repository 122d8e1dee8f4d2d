//===- Device.h - run PTX on the emulated device --------------------------===//
#pragma once

#include "abi/Cuda.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

/// A test with a fresh context of device 0.
class DeviceTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    ASSERT_EQ(cuCtxSetCurrent(context), 0);
  }
  void TearDown() override {
    EXPECT_EQ(cuCtxSetCurrent(nullptr), 0);
    EXPECT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
  }

  /// Loads `.version 8.0 ...` and `body`; the kernel of that name.
  cuda::FunctionHandle kernel(const std::string &body, const char *name = "k") {
    std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + body;
    cuda::ModuleHandle module = nullptr;
    cuda::FunctionHandle function = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, text.c_str()), 0);
    if (module)
      EXPECT_EQ(cuModuleGetFunction(&function, module, name), 0);
    return function;
  }

  template <class T> cuda::DevicePtr upload(const std::vector<T> &values) {
    cuda::DevicePtr made = 0;
    size_t bytes = values.size() * sizeof(T);
    EXPECT_EQ(cuMemAlloc_v2(&made, bytes), 0);
    EXPECT_EQ(cuMemcpyHtoD_v2(made, values.data(), bytes), 0);
    return made;
  }

  template <class T>
  std::vector<T> download(cuda::DevicePtr from, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), from, count * sizeof(T)), 0);
    return values;
  }

  /// Launches with `args` as the parameters, in order.
  template <class... Args>
  int launch(cuda::FunctionHandle f, unsigned grid, unsigned block,
             Args... args) {
    void *params[] = {&args..., nullptr};
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, stream, params,
                          nullptr);
  }

  cuda::ContextHandle context = nullptr;
  cuda::StreamHandle stream = nullptr;
  unsigned shared = 0;
};
