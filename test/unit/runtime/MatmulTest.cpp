//===- MatmulTest.cpp - products against plain loops ----------------------===//

#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"
#include "test/unit/runtime/Tensors.h"

#include <gtest/gtest.h>

using namespace cleave::rt;
using namespace cleave::test;

namespace {
/// A product with values, its result by cleaveMatmul and by loops.
struct Case {
  explicit Case(const CleaveMatmulDesc &desc) : desc(desc) {
    a = someValues(extentOf(desc.a), 1);
    b = someValues(extentOf(desc.b), 2);
    c.assign(extentOf(desc.c), 77.f);
    for (int i = 0; i < desc.postOpCount; ++i)
      operands.push_back(someValues(extentOf(desc.postOps[i].operand), 3 + i));
  }

  double expectedAt(const Sizes &index) const {
    Sizes left = index, right = index;
    size_t m = index.size() - 2, n = index.size() - 1;
    double sum = 0;
    for (int64_t k = 0; k < desc.a.dims[desc.a.rank - 1]; ++k) {
      left[n] = right[m] = k;
      // A dim k of size 1 counts as broadcast, which is right for offset 0.
      sum += static_cast<double>(a[offsetAt(desc.a, left)]) *
             b[offsetAt(desc.b, right)];
    }
    for (int i = 0; i < desc.postOpCount; ++i)
      sum = reference(desc.postOps[i].kind, sum,
                      operands[i][offsetAt(desc.postOps[i].operand, index)]);
    return sum;
  }

  void run(CleaveContext &context, int slot) {
    std::vector<const void *> post;
    for (const auto &operand : operands)
      post.push_back(operand.data());
    cleaveMatmul(&context, slot, &desc, a.data(), b.data(), c.data(),
                 post.data());
    ASSERT_NO_THROW(context.throwIfFailed());
  }

  void expectRight() const {
    Sizes index(desc.c.rank, 0);
    do
      ASSERT_NEAR(c[offsetAt(desc.c, index)], expectedAt(index), 2e-5)
          << "at " << testing::PrintToString(index);
    while (advance(index, desc.c.dims));
  }

  CleaveMatmulDesc desc;
  std::vector<float> a, b, c;
  std::vector<std::vector<float>> operands;
};
} // namespace

static void check(const CleaveMatmulDesc &desc, int threads = 1) {
  // An operand that no step writes may be kept in another layout.
  for (bool constant : {false, true}) {
    CleaveContext context(nullptr, 1, threads);
    Case test(desc), again(desc);
    for (Case *each : {&test, &again})
      if (constant) {
        context.addConstant(each->a.data(), each->a.size() * sizeof(float));
        context.addConstant(each->b.data(), each->b.size() * sizeof(float));
      }
    test.run(context, 0);
    test.expectRight();
    // The primitive is kept: new addresses must count, and new values.
    for (float &value : again.b)
      value += 1;
    again.run(context, 0);
    again.expectRight();
    test.run(context, 0);
    test.expectRight();
  }
}

static CleaveMatmulDesc withPost(CleaveMatmulDesc desc, int32_t kind,
                                 const CleaveTensorDesc &operand = {}) {
  desc.postOps[desc.postOpCount++] = {kind, operand};
  return desc;
}

// Tests products of two matrices, of one row, one column and one inner item.
TEST(Matmul, TwoDims) {
  for (int64_t m : {1, 7, 33})
    for (int64_t n : {1, 5, 48})
      for (int64_t k : {1, 19})
        check(product(dense({m, k}), dense({k, n}), dense({m, n})));
}

// Tests transposed and padded operands, and a transposed result.
TEST(Matmul, Strided) {
  check(product(strided({7, 9}, {1, 7}), dense({9, 5}), dense({7, 5})));
  check(product(dense({7, 9}), strided({9, 5}, {1, 9}), dense({7, 5})));
  check(product(strided({7, 9}, {16, 1}), strided({9, 5}, {8, 1}),
                strided({7, 5}, {11, 1})));
  check(product(dense({7, 9}), dense({9, 5}), strided({7, 5}, {1, 7}),
                {dense({5})}));
  check(product(strided({7, 9}, {20, 2}), dense({9, 5}),
                strided({7, 5}, {20, 3})));
}

// Tests heads as strided views: [tokens, heads, 4] read as [heads, tokens, 4].
TEST(Matmul, StridedHeads) {
  check(product(strided({3, 10, 4}, {4, 12, 1}),
                strided({3, 4, 10}, {4, 1, 12}), dense({3, 10, 10})));
  check(product(dense({3, 10, 10}), strided({3, 10, 4}, {4, 12, 1}),
                strided({3, 10, 4}, {4, 12, 1})));
}

// Tests each way an operand may repeat along the batch.
TEST(Matmul, BatchBroadcast) {
  check(product(dense({2, 3, 5, 4}), dense({2, 3, 4, 6}), dense({2, 3, 5, 6})));
  check(product(dense({2, 3, 5, 4}), dense({4, 6}), dense({2, 3, 5, 6})));
  check(product(dense({5, 4}), dense({2, 3, 4, 6}), dense({2, 3, 5, 6})));
  check(product(dense({2, 1, 5, 4}), dense({1, 3, 4, 6}), dense({2, 3, 5, 6})));
  check(product(dense({1, 19, 8}), dense({8, 12}), dense({1, 19, 12})));
}

// Tests each post-operation alone and after a bias.
TEST(Matmul, PostOps) {
  CleaveMatmulDesc plain =
      product(dense({9, 16}), dense({16, 24}), dense({9, 24}));
  CleaveMatmulDesc bias = withPost(plain, CLEAVE_POST_ADD, dense({24}));
  for (int32_t kind = CLEAVE_POST_GELU_ERF; kind <= CLEAVE_POST_SILU; ++kind) {
    check(withPost(plain, kind));
    check(withPost(bias, kind));
  }
  check(withPost(plain, CLEAVE_POST_MUL, dense({24})));
  check(withPost(plain, CLEAVE_POST_MUL, dense({1, 1})));
}

// Tests operands of every shape: row, column, scalar, whole, whole but strided.
TEST(Matmul, PostOperands) {
  CleaveMatmulDesc plain =
      product(dense({9, 16}), dense({16, 24}), dense({9, 24}));
  for (const CleaveTensorDesc &operand :
       {dense({24}), dense({9, 1}), dense({1}), dense({9, 24}),
        strided({9, 24}, {1, 9}), strided({9, 24}, {30, 1})}) {
    check(withPost(plain, CLEAVE_POST_ADD, operand));
    check(withPost(withPost(plain, CLEAVE_POST_GELU_ERF), CLEAVE_POST_MUL,
                   operand));
  }
}

// Tests bias, activation and residual in the order given, also in a batch.
TEST(Matmul, Chains) {
  CleaveMatmulDesc desc =
      product(dense({2, 11, 8}), dense({8, 20}), dense({2, 11, 20}),
              {dense({20}), dense({2, 11, 20})});
  check(desc);
  check(withPost(desc, CLEAVE_POST_RELU));
  check(withPost(withPost(desc, CLEAVE_POST_MUL, dense({20})), CLEAVE_POST_ADD,
                 dense({1, 11, 20})));
  CleaveMatmulDesc batched =
      product(dense({3, 11, 8}), dense({3, 8, 20}), dense({3, 11, 20}));
  check(withPost(batched, CLEAVE_POST_ADD, dense({3, 11, 20})));
  check(withPost(batched, CLEAVE_POST_ADD, dense({20})));
  check(withPost(batched, CLEAVE_POST_MUL, dense({3, 1, 1})));
}

// Tests that threads change nothing.
TEST(Matmul, Threads) {
  check(product(dense({64, 128}), dense({128, 96}), dense({64, 96}),
                {dense({96})}),
        2);
}

// Tests that a residual may be the result's own memory.
TEST(Matmul, ResidualInPlace) {
  CleaveContext context(nullptr, 1, 1);
  Case test(
      product(dense({6, 8}), dense({8, 16}), dense({6, 16}), {dense({6, 16})}));
  test.c = test.operands[0];
  const void *post[] = {test.c.data()};
  cleaveMatmul(&context, 0, &test.desc, test.a.data(), test.b.data(),
               test.c.data(), post);
  test.expectRight();
}

// Tests the same where oneDNN may not sum into the result: behind a function,
// as a factor, and as the second of two that are the result.
TEST(Matmul, OperandsInPlace) {
  for (int second : {CLEAVE_POST_ADD, CLEAVE_POST_MUL}) {
    CleaveContext context(nullptr, 1, 1);
    Case test(product(dense({6, 8}), dense({8, 16}), dense({6, 16}),
                      {dense({6, 16}), dense({6, 16})}));
    test.desc.postOps[1].kind = second;
    test.c = test.operands[1] = test.operands[0];
    const void *post[] = {test.c.data(), test.c.data()};
    cleaveMatmul(&context, 0, &test.desc, test.a.data(), test.b.data(),
                 test.c.data(), post);
    test.expectRight();
  }
}

// Tests that other types are an error in words.
TEST(Matmul, RefusesOtherTypes) {
  CleaveContext context(nullptr, 1, 1);
  CleaveMatmulDesc desc = product(dense({2, 2}), dense({2, 2}), dense({2, 2}));
  desc.b.dtype = CLEAVE_I32;
  float values[4] = {};
  cleaveMatmul(&context, 0, &desc, values, values, values, nullptr);
  try {
    context.throwIfFailed();
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_STREQ(failure.what(), "the right operand of a product has element "
                                 "type i32, expected f32");
  }
}
