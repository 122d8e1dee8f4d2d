//===- AttentionTests.cpp - attention against plain loops -----------------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace cleave;

namespace {
struct Case {
  int64_t batches, heads, groups, queries, keys, depth, width;
  bool causal = false;
  std::vector<int64_t> mask = {};  ///< shape; empty: none
  std::vector<int64_t> order = {}; ///< memory order of q, k and v
};
} // namespace

static std::string type(const Array<float> &array) {
  std::string text = "tensor<";
  for (int64_t size : array.shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

static std::string attentionText(const Array<float> &q, const Array<float> &k,
                                 const Array<float> &v,
                                 const Array<float> *mask,
                                 const Array<float> &y, bool causal) {
  std::string m = mask ? type(*mask) : "";
  return llvm::formatv(
      R"(func.func @f(%a: {0}, %b: {1}, %c: {2}{5}) -> {4} {{
      %r = cleave.kernel attention(%a, %b, %c{6}) : ({0}, {1}, {2}{7}) -> {4} {{
      ^bb0(%q: {0}, %k: {1}, %v: {2}{8}):
        %y = cleave.attention %q, %k, %v{9} {{scale = 0.2 : f64, operandSegmentSizes = array<i32: 1, 1, 1, {10}>{11}} : ({0}, {1}, {2}{7}) -> {4}
        cleave.yield %y : {4}
      }
      return %r : {4}
    })",
      type(q), type(k), type(v), m, type(y), mask ? ", %d: " + m : "",
      mask ? ", %d" : "", mask ? ", " + m : "", mask ? ", %m: " + m : "",
      mask ? ", %m" : "", mask ? 1 : 0, causal ? ", causal" : "");
}

static void check(const Case &c) {
  Array<float> q({c.batches, c.heads, c.queries, c.depth}, c.order);
  Array<float> k({c.batches, c.groups, c.keys, c.depth}, c.order);
  Array<float> v({c.batches, c.groups, c.keys, c.width}, c.order);
  Array<float> y({c.batches, c.heads, c.queries, c.width}, c.order);
  Array<float> mask(c.mask);
  q.randomize(1, 1), k.randomize(2, 2), v.randomize(2, 3), mask.randomize(3, 4);
  bool hasMask = !c.mask.empty();
  std::vector<std::vector<int64_t>> strides = {q.strides, k.strides, v.strides};
  std::vector<void *> args = {q.data.data(), k.data.data(), v.data.data()};
  if (hasMask) {
    strides.push_back(mask.strides);
    args.push_back(mask.data.data());
  }
  strides.push_back(y.strides);
  args.push_back(y.data.data());
  JitKernel kernel(
      attentionText(q, k, v, hasMask ? &mask : nullptr, y, c.causal), strides);
  kernel.run(args);
  for (int64_t i = 0; i < c.batches * c.heads * c.queries; ++i) {
    int64_t b = i / c.queries / c.heads, h = i / c.queries % c.heads;
    int64_t s = i % c.queries, g = h / (c.heads / c.groups);
    std::vector<double> p(c.keys);
    double sum = 0;
    for (int64_t t = 0; t < c.keys; ++t) {
      for (int64_t d = 0; d < c.depth; ++d)
        p[t] += 0.2 * q.at(b, h, s, d) * k.at(b, g, t, d);
      if (hasMask)
        p[t] += mask.at(b % c.mask[0], h % c.mask[1], s % c.mask[2], t);
      bool isHidden = c.causal && t > s + c.keys - c.queries;
      p[t] = isHidden ? 0 : std::exp(p[t]);
      sum += p[t];
    }
    for (int64_t e = 0; e < c.width; ++e) {
      double expected = 0;
      for (int64_t t = 0; t < c.keys; ++t)
        expected += p[t] / sum * v.at(b, g, t, e);
      ASSERT_NEAR(y.at(b, h, s, e), expected, 3e-6) << i << "," << e;
    }
  }
}

// Tests the shapes of a vision transformer, dense and as [batch, token, head,
// dim].
TEST(Attention, Heads) {
  check({2, 3, 3, 197, 197, 64, 64});
  check({2, 3, 3, 197, 197, 64, 64, false, {}, {0, 2, 1, 3}});
  check({1, 2, 2, 256, 256, 80, 32});
}

// Tests sizes that fill no vector or tile, and one query.
TEST(Attention, OddSizes) {
  check({1, 2, 2, 7, 13, 5, 19});
  check({1, 2, 2, 1, 1, 1, 1});
  check({1, 4, 4, 1, 100, 64, 64});
  check({1, 2, 2, 5, 33, 17, 70, false, {}, {0, 1, 3, 2}});
}

// Tests causal attention, also with more keys than queries and in long blocks.
TEST(Attention, Causal) {
  check({1, 2, 2, 50, 50, 16, 16, true});
  check({1, 2, 2, 3, 90, 16, 16, true});
  check({1, 1, 1, 1300, 1300, 16, 16, true});
}

// Tests masks of all broadcast shapes.
TEST(Attention, Mask) {
  check({2, 3, 3, 20, 37, 16, 16, false, {2, 3, 20, 37}});
  check({2, 3, 3, 20, 37, 16, 16, false, {1, 3, 1, 37}});
  check({2, 2, 2, 20, 37, 16, 16, true, {2, 1, 20, 37}});
  check({1, 1, 1, 8, 1100, 16, 16, false, {1, 1, 8, 1100}});
}

// Tests grouped keys and values: heads 0 and 1 read group 0, 2 and 3 group 1.
TEST(Attention, Groups) {
  check({2, 4, 2, 30, 30, 16, 16});
  check({1, 6, 1, 30, 30, 16, 16, true});
}

// Tests several blocks of keys, the last one not whole.
TEST(Attention, LongKeys) {
  check({1, 2, 2, 9, 1500, 16, 24});
  check({1, 2, 1, 300, 1025, 8, 8});
}
