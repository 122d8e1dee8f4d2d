//===- MatmulShapeTest.cpp - how products are folded ----------------------===//

#include "runtime/library/MatmulShape.h"
#include "runtime/support/Error.h"
#include "test/unit/runtime/Tensors.h"

#include <gtest/gtest.h>

using namespace cleave::rt;
using namespace cleave::test;

static MatmulShape folded(const CleaveMatmulDesc &desc) {
  MatmulShape shape = matmulShape(desc);
  foldBatch(shape);
  return shape;
}

using Sizes = std::vector<int64_t>;

// Tests that a batch of rows times one weight is one product.
TEST(MatmulShape, FoldsBatchIntoRows) {
  MatmulShape shape = folded(product(dense({4, 3, 197, 64}), dense({64, 8}),
                                     dense({4, 3, 197, 8}),
                                     {dense({8}), dense({4, 3, 197, 8})}));
  EXPECT_EQ(shape.batch, Sizes());
  EXPECT_EQ(shape.m, 4 * 3 * 197);
  EXPECT_EQ(shape.post[0].row, 0);
  EXPECT_EQ(shape.post[0].column, 1);
  EXPECT_EQ(shape.post[1], shape.c);
}

// Tests that a weight of its own for each batch keeps the batch, as one dim.
TEST(MatmulShape, JoinsBatchDims) {
  MatmulShape shape = folded(
      product(dense({2, 6, 5, 4}), dense({2, 6, 4, 3}), dense({2, 6, 5, 3})));
  EXPECT_EQ(shape.batch, Sizes({12}));
  EXPECT_EQ(shape.a.batch, Sizes({20}));
}

// Tests that an operand that repeats along the batch only stops the folding.
TEST(MatmulShape, RepeatedOperandStopsFolding) {
  MatmulShape shape = folded(product(dense({3, 5, 4}), dense({4, 2}),
                                     dense({3, 5, 2}), {dense({1, 5, 2})}));
  EXPECT_EQ(shape.batch, Sizes({3}));
  EXPECT_EQ(shape.post[0].batch, Sizes({0}));
}

// Tests that one row a batch takes the batch's stride: [8, 1, 4] is 8 rows.
TEST(MatmulShape, SingleRows) {
  MatmulShape shape =
      folded(product(dense({8, 1, 4}), dense({4, 2}), dense({8, 1, 2})));
  EXPECT_EQ(shape.m, 8);
  EXPECT_EQ(shape.a.row, 4);
  EXPECT_EQ(shape.c.row, 2);
}

// Tests that a result with consecutive rows is computed transposed.
TEST(MatmulShape, OrientsRows) {
  MatmulShape shape = folded(product(dense({5, 4}), dense({4, 3}),
                                     strided({5, 3}, {1, 5}), {dense({3})}));
  EXPECT_TRUE(orientRows(shape));
  EXPECT_EQ(shape.m, 3);
  EXPECT_EQ(shape.n, 5);
  EXPECT_EQ(shape.c.column, 1);
  EXPECT_EQ(shape.post[0].row, 1);
  EXPECT_EQ(shape.post[0].column, 0);
}

// Tests that shapes that make no product are refused with all of them.
TEST(MatmulShape, RefusesWrongShapes) {
  try {
    matmulShape(product(dense({5, 4}), dense({3, 2}), dense({5, 2})));
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_STREQ(failure.what(), "shapes [5, 4] and [3, 2] do not make a "
                                 "product of shape [5, 2]");
  }
}
