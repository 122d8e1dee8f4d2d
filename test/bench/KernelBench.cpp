//===- KernelBench.cpp - print how fast generated kernels are -------------===//
//
// One thread. Figures are printed and never asserted: they depend on the
// machine and on who else uses it.
//
//===----------------------------------------------------------------------===//

#include "test/unit/kernels/Jit.h"

#include <chrono>
#include <cstdio>
#include <functional>

using namespace cleave;

/// Best of many runs, in microseconds.
static double measure(const std::function<void()> &run) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  auto start = Clock::now();
  while (Clock::now() - start < std::chrono::milliseconds(300)) {
    auto from = Clock::now();
    run();
    std::chrono::duration<double, std::micro> taken = Clock::now() - from;
    best = std::min(best, taken.count());
  }
  return best;
}

static void report(const char *name, const char *text, std::vector<void *> args,
                   double work, const char *unit,
                   std::vector<std::vector<int64_t>> strides = {}) {
  JitKernel kernel(text, strides);
  double time = measure([&] { kernel.run(args, 1); });
  std::printf("%-44s %9.1f us %8.2f %s\n", name, time, work / time / 1e3, unit);
}

static void benchElementwise() {
  Array<float> x({197, 1536}), y({197, 1536}), scale({1536}), bias({1536});
  x.randomize(), scale.randomize(), bias.randomize();
  report("gelu 197x1536", R"(
    func.func @f(%a: tensor<197x1536xf32>) -> tensor<197x1536xf32> {
      %r = cleave.kernel loop(%a) : (tensor<197x1536xf32>) -> tensor<197x1536xf32> {
      ^bb0(%x: tensor<197x1536xf32>):
        %y = cleave.unary gelu_erf %x : tensor<197x1536xf32>
        cleave.yield %y : tensor<197x1536xf32>
      }
      return %r : tensor<197x1536xf32>
    })",
         {x.data.data(), y.data.data()}, x.count(), "G elements/s");
  report("layer norm 197x1536", R"(
    func.func @f(%a: tensor<197x1536xf32>, %b: tensor<1536xf32>, %c: tensor<1536xf32>) -> tensor<197x1536xf32> {
      %r = cleave.kernel row(%a, %b, %c) : (tensor<197x1536xf32>, tensor<1536xf32>, tensor<1536xf32>) -> tensor<197x1536xf32> {
      ^bb0(%x: tensor<197x1536xf32>, %s: tensor<1536xf32>, %t: tensor<1536xf32>):
        %y = cleave.norm layer %x, %s, %t {axis = 1 : i64, epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
          : (tensor<197x1536xf32>, tensor<1536xf32>, tensor<1536xf32>) -> tensor<197x1536xf32>
        cleave.yield %y : tensor<197x1536xf32>
      }
      return %r : tensor<197x1536xf32>
    })",
         {x.data.data(), scale.data.data(), bias.data.data(), y.data.data()},
         x.count(), "G elements/s");
  report("residual add + layer norm 197x384", R"(
    func.func @f(%a: tensor<197x384xf32>, %b: tensor<197x384xf32>, %c: tensor<384xf32>, %d: tensor<384xf32>) -> (tensor<197x384xf32>, tensor<197x384xf32>) {
      %r:2 = cleave.kernel row(%a, %b, %c, %d) : (tensor<197x384xf32>, tensor<197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> (tensor<197x384xf32>, tensor<197x384xf32>) {
      ^bb0(%x: tensor<197x384xf32>, %z: tensor<197x384xf32>, %s: tensor<384xf32>, %t: tensor<384xf32>):
        %w = cleave.binary add %x, %z : tensor<197x384xf32>
        %y = cleave.norm layer %w, %s, %t {axis = 1 : i64, epsilon = 1.0e-05 : f64, operandSegmentSizes = array<i32: 1, 1, 1>}
          : (tensor<197x384xf32>, tensor<384xf32>, tensor<384xf32>) -> tensor<197x384xf32>
        cleave.yield %w, %y : tensor<197x384xf32>, tensor<197x384xf32>
      }
      return %r#0, %r#1 : tensor<197x384xf32>, tensor<197x384xf32>
    })",
         {x.data.data(), x.data.data() + 197 * 384, scale.data.data(),
          bias.data.data(), y.data.data(), y.data.data() + 197 * 384},
         197 * 384, "G elements/s");
}

static void benchSoftmax() {
  Array<float> x({6, 197, 197}), y({6, 197, 197});
  x.randomize(5);
  report("softmax 6x197x197", R"(
    func.func @f(%a: tensor<6x197x197xf32>) -> tensor<6x197x197xf32> {
      %r = cleave.kernel row(%a) : (tensor<6x197x197xf32>) -> tensor<6x197x197xf32> {
      ^bb0(%x: tensor<6x197x197xf32>):
        %y = cleave.softmax %x {dim = 2 : i64} : (tensor<6x197x197xf32>) -> tensor<6x197x197xf32>
        cleave.yield %y : tensor<6x197x197xf32>
      }
      return %r : tensor<6x197x197xf32>
    })",
         {x.data.data(), y.data.data()}, x.count(), "G elements/s");
}

static void benchAttention() {
  Array<float> qkv({3, 6, 197, 64}, {2, 0, 1, 3}),
      y({1, 6, 197, 64}, {0, 2, 1, 3});
  qkv.randomize();
  std::vector<int64_t> strides = qkv.strides;
  float *q = qkv.data.data();
  report("attention 6 heads, 197 x 197 x 64", R"(
    func.func @f(%a: tensor<1x6x197x64xf32>, %b: tensor<1x6x197x64xf32>, %c: tensor<1x6x197x64xf32>) -> tensor<1x6x197x64xf32> {
      %r = cleave.kernel attention(%a, %b, %c) : (tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>) -> tensor<1x6x197x64xf32> {
      ^bb0(%q: tensor<1x6x197x64xf32>, %k: tensor<1x6x197x64xf32>, %v: tensor<1x6x197x64xf32>):
        %y = cleave.attention %q, %k, %v {scale = 0.125 : f64, operandSegmentSizes = array<i32: 1, 1, 1, 0>}
          : (tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>, tensor<1x6x197x64xf32>) -> tensor<1x6x197x64xf32>
        cleave.yield %y : tensor<1x6x197x64xf32>
      }
      return %r : tensor<1x6x197x64xf32>
    })",
         {q, q + strides[0], q + 2 * strides[0], y.data.data()},
         4.0 * 6 * 197 * 197 * 64, "GFLOP/s",
         {strides, strides, strides, y.strides});
}

static void benchMoves() {
  Array<float> x({384, 1369}), y({1369, 384});
  x.randomize();
  report("transposing copy 1369x384", R"(
    func.func @f(%a: tensor<1369x384xf32>) -> tensor<1369x384xf32> {
      %r = cleave.kernel loop(%a) : (tensor<1369x384xf32>) -> tensor<1369x384xf32> {
      ^bb0(%x: tensor<1369x384xf32>):
        %y = cleave.copy %x : tensor<1369x384xf32>
        cleave.yield %y : tensor<1369x384xf32>
      }
      return %r : tensor<1369x384xf32>
    })",
         {x.data.data(), y.data.data()}, x.count(), "G elements/s",
         {{1, 1369}});
  Array<float> image({64, 64, 64}), large({64, 128, 128});
  image.randomize();
  report("linear resize 64x64x64 to 64x128x128", R"(
    func.func @f(%a: tensor<1x64x64x64xf32>) -> tensor<1x64x128x128xf32> {
      %r = cleave.kernel loop(%a) : (tensor<1x64x64x64xf32>) -> tensor<1x64x128x128xf32> {
      ^bb0(%x: tensor<1x64x64x64xf32>):
        %y = cleave.resize linear %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = "half_pixel"}
          : (tensor<1x64x64x64xf32>) -> tensor<1x64x128x128xf32>
        cleave.yield %y : tensor<1x64x128x128xf32>
      }
      return %r : tensor<1x64x128x128xf32>
    })",
         {image.data.data(), large.data.data()}, large.count(), "G elements/s");
  Array<float> table({1369, 384}), small({384, 256});
  table.randomize();
  report("cubic resize 384x37x37 to 16x16, channels last", R"(
    func.func @f(%a: tensor<1x384x37x37xf32>) -> tensor<1x384x16x16xf32> {
      %r = cleave.kernel loop(%a) : (tensor<1x384x37x37xf32>) -> tensor<1x384x16x16xf32> {
      ^bb0(%x: tensor<1x384x37x37xf32>):
        %y = cleave.resize cubic %x {scales = array<f64: 1.0, 1.0, 0.4324324324, 0.4324324324>, coordinates = "half_pixel"}
          : (tensor<1x384x37x37xf32>) -> tensor<1x384x16x16xf32>
        cleave.yield %y : tensor<1x384x16x16xf32>
      }
      return %r : tensor<1x384x16x16xf32>
    })",
         {table.data.data(), small.data.data()}, small.count(), "G elements/s",
         {{384 * 37 * 37, 1, 384 * 37, 384}});
}

int main() {
  benchElementwise();
  benchSoftmax();
  benchAttention();
  benchMoves();
  return 0;
}
