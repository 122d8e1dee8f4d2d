//===- MoveTests.cpp - ops that move elements against plain loops ---------===//

#include "test/unit/kernels/Jit.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace cleave;

// Tests copies between orders of three dims, with rows that are not whole.
TEST(Copy, Orders) {
  std::vector<std::vector<int64_t>> orders = {
      {0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}};
  for (size_t i = 0; i < 7; ++i) {
    std::vector<int64_t> from = orders[i % 4], to = orders[i / 4 * (i % 4 + 1)];
    Array<float> x({3, 35, 50}, from, 3), y({3, 35, 50}, to);
    x.randomize();
    JitKernel kernel(loopText({"3x35x50xf32"}, "3x35x50xf32",
                              "%y = cleave.copy %x0 : tensor<3x35x50xf32>"),
                     {x.strides, y.strides});
    kernel.run({x.data.data(), y.data.data()});
    for (int64_t i = 0; i < x.count(); ++i)
      ASSERT_EQ(y[i], x[i]) << i << " of " << testing::PrintToString(from);
  }
}

// Tests that a long row is done in blocks.
TEST(Copy, Long) {
  Array<double> x({2, 5003}, {}, 1), y({2, 5003});
  x.randomize();
  JitKernel kernel(loopText({"2x5003xf64"}, "2x5003xf64",
                            "%y = cleave.copy %x0 : tensor<2x5003xf64>"),
                   {x.strides});
  EXPECT_EQ(kernel.plan.extent, 6);
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < x.count(); ++i)
    ASSERT_EQ(y[i], x[i]);
}

// Tests a broadcast of a row and of a column, and a small array inside.
TEST(Broadcast, RowColumnAndArray) {
  Array<float> row({40}), column({6, 1}), y({6, 40});
  row.randomize(2, 1), column.randomize(2, 2);
  JitKernel kernel(loopText({"40xf32", "6x1xf32"}, "6x40xf32", R"(
        %r = cleave.broadcast %x0 {dims = array<i64: 1>} : (tensor<40xf32>) -> tensor<6x40xf32>
        %c = cleave.broadcast %x1 {dims = array<i64: 0, 1>} : (tensor<6x1xf32>) -> tensor<6x40xf32>
        %k = cleave.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : tensor<6xf32>
        %l = cleave.broadcast %k {dims = array<i64: 0>} : (tensor<6xf32>) -> tensor<6x40xf32>
        %s = cleave.binary add %r, %c : tensor<6x40xf32>
        %y = cleave.binary add %s, %l : tensor<6x40xf32>)"));
  kernel.run({row.data.data(), column.data.data(), y.data.data()});
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_EQ(y.at(i, j), row[j] + column[i] + float(i + 1));
}

// Tests iota and slice with steps, transposed.
TEST(Moves, IotaAndSlice) {
  Array<int64_t> x({20, 30}), y({14, 6});
  x.randomize(1000);
  JitKernel kernel(loopText({"20x30xi64"}, "14x6xi64", R"(
        %s = cleave.slice %x0 {starts = array<i64: 1, 2>, sizes = array<i64: 6, 14>, strides = array<i64: 3, 2>} : (tensor<20x30xi64>) -> tensor<6x14xi64>
        %t = cleave.transpose %s {perm = array<i64: 1, 0>} : (tensor<6x14xi64>) -> tensor<14x6xi64>
        %i = cleave.iota {dim = 0 : i64} : tensor<14x6xi64>
        %y = cleave.binary add %t, %i : tensor<14x6xi64>)"));
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < 14; ++i)
    for (int64_t j = 0; j < 6; ++j)
      EXPECT_EQ(y.at(i, j), x.at(1 + 3 * j, 2 + 2 * i) + i);
}

// Tests concat along each dim; one operand is computed, one is empty.
TEST(Concat, Dims) {
  Array<float> a({3, 20}), b({3, 17}), y({3, 37}), z({6, 20});
  a.randomize(2, 1), b.randomize(2, 2);
  JitKernel wide(loopText({"3x20xf32", "3x17xf32", "3x0xf32"}, "3x37xf32", R"(
        %n = cleave.unary neg %x1 : tensor<3x17xf32>
        %y = cleave.concat %x0, %x2, %n {dim = 1 : i64} : (tensor<3x20xf32>, tensor<3x0xf32>, tensor<3x17xf32>) -> tensor<3x37xf32>)"));
  wide.run({a.data.data(), b.data.data(), nullptr, y.data.data()});
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 37; ++j)
      EXPECT_EQ(y.at(i, j), j < 20 ? a.at(i, j) : -b.at(i, j - 20));
  JitKernel tall(loopText({"3x20xf32"}, "6x20xf32", R"(
        %y = cleave.concat %x0, %x0 {dim = 0 : i64} : (tensor<3x20xf32>, tensor<3x20xf32>) -> tensor<6x20xf32>)"));
  tall.run({a.data.data(), z.data.data()});
  for (int64_t i = 0; i < 120; ++i)
    EXPECT_EQ(z[i], a[i % 60]);
}

// Tests borders of a pad.
TEST(Pad, Borders) {
  Array<float> x({3, 20}), y({6, 26});
  x.randomize();
  JitKernel kernel(loopText({"3x20xf32"}, "6x26xf32", R"(
        %y = cleave.pad %x0 {low = array<i64: 1, 4>, high = array<i64: 2, 2>, value = 5.0 : f64} : (tensor<3x20xf32>) -> tensor<6x26xf32>)"));
  kernel.run({x.data.data(), y.data.data()});
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 26; ++j) {
      bool isInside = i >= 1 && i < 4 && j >= 4 && j < 24;
      EXPECT_EQ(y.at(i, j), isInside ? x.at(i - 1, j - 4) : 5.0f);
    }
}

// Tests rows by index, elements by index, and indices out of range.
TEST(Gather, RowsAndElements) {
  Array<float> x({10, 33}), y({2, 3, 33}), z({10, 40});
  Array<int64_t> rows({2, 3});
  Array<int32_t> columns({40});
  x.randomize();
  for (int64_t i = 0; i < 6; ++i)
    rows[i] = i % 2 ? i : -i - 1;
  for (int64_t i = 0; i < 40; ++i)
    columns[i] = i * 7 % 33 - (i % 3 ? 0 : 33);
  JitKernel byRow(loopText({"10x33xf32", "2x3xi64"}, "2x3x33xf32", R"(
        %y = cleave.gather %x0, %x1 {dim = 0 : i64} : (tensor<10x33xf32>, tensor<2x3xi64>) -> tensor<2x3x33xf32>)"));
  std::vector<void *> args = {x.data.data(), rows.data.data(), y.data.data()};
  EXPECT_EQ(byRow.run(args), 0);
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 33; ++j)
      EXPECT_EQ(y[i * 33 + j], x.at((rows[i] + 10) % 10, j));
  rows[5] = 10;
  EXPECT_EQ(byRow.run(args), 1);
  EXPECT_EQ(byRow.plan.failMessage,
            "an index is out of range: expected -10 <= index < 10");
  JitKernel byColumn(loopText({"10x33xf32", "40xi32"}, "10x40xf32", R"(
        %y = cleave.gather %x0, %x1 {dim = 1 : i64} : (tensor<10x33xf32>, tensor<40xi32>) -> tensor<10x40xf32>)"));
  EXPECT_EQ(byColumn.run({x.data.data(), columns.data.data(), z.data.data()}),
            0);
  for (int64_t i = 0; i < 10; ++i)
    for (int64_t j = 0; j < 40; ++j)
      EXPECT_EQ(z.at(i, j), x.at(i, (columns[j] + 33) % 33));
}

// Tests the chunk of each rank, zero beyond the end, and masks, along both
// dims, and chunks of which each is inside or beyond the end as a whole.
TEST(Shards, TakeAndMask) {
  Array<float> x({7, 50}), y({7, 18}), z({3, 50});
  x.randomize();
  JitKernel columns(loopText({"7x50xf32", "i64"}, "7x18xf32", R"(
        %t = cleave.take_shard %x0, %x1 {dim = 1 : i64} : (tensor<7x50xf32>, tensor<i64>) -> tensor<7x18xf32>
        %e = cleave.unary exp %t : tensor<7x18xf32>
        %y = cleave.mask %e, %x1 {dim = 1 : i64, size = 50 : i64, fill = -1.0 : f64} : (tensor<7x18xf32>, tensor<i64>) -> tensor<7x18xf32>)"));
  JitKernel rows(loopText({"7x50xf32", "i64"}, "3x50xf32", R"(
        %y = cleave.take_shard %x0, %x1 {dim = 0 : i64} : (tensor<7x50xf32>, tensor<i64>) -> tensor<3x50xf32>)"));
  Array<float> even({6, 50});
  even.randomize();
  JitKernel whole(loopText({"6x50xf32", "i64"}, "3x50xf32", R"(
        %y = cleave.take_shard %x0, %x1 {dim = 0 : i64} : (tensor<6x50xf32>, tensor<i64>) -> tensor<3x50xf32>)"));
  for (int64_t rank = 0; rank < 4; ++rank) {
    whole.run({even.data.data(), &rank, z.data.data()});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 50; ++j)
        EXPECT_EQ(z.at(i, j), rank < 2 ? even.at(rank * 3 + i, j) : 0);
    columns.run({x.data.data(), &rank, y.data.data()});
    for (int64_t i = 0; i < 7; ++i)
      for (int64_t j = 0; j < 18; ++j) {
        int64_t from = rank * 18 + j;
        EXPECT_NEAR(y.at(i, j), from < 50 ? std::exp(x.at(i, from)) : -1, 1e-5);
      }
    rows.run({x.data.data(), &rank, z.data.data()});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 50; ++j) {
        int64_t from = rank * 3 + i;
        EXPECT_EQ(z.at(i, j), from < 7 ? x.at(from, j) : 0);
      }
  }
}
