//===- CostTests.cpp - times by hand --------------------------------------===//

#include "ir/Cleave.h"
#include "passes/cost/CostModel.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace cleave;

namespace {

/// Four ranks, 10 us and 1 GB/s, so that a megabyte takes a millisecond.
const AxisLink kAxis{4, 10e-6, 1e9};

/// Ranks with 100 GFLOP/s and 10 GB/s; two on each of `nodes` nodes.
Cluster makeCluster(int64_t nodes) {
  Cluster cluster;
  Device device;
  device.bandwidth = 10e9;
  device.peak = {{"fp32", 100e9}, {"fp64", 50e9}};
  cluster.devices = {device};
  cluster.links = {{"near", 1e-6, 10e9}, {"far", 100e-6, 1e9}};
  NodeGroup group;
  group.count = nodes;
  group.perNode = 2;
  cluster.nodes = {group};
  cluster.network = 1;
  return cluster;
}

// Tests the ring formulas on 4 MB: all-gather 3 x 10 us + 3/4 x 4 ms.
TEST(Cost, Collectives) {
  EXPECT_DOUBLE_EQ(getAllGatherTime(kAxis, 4e6), 30e-6 + 3e-3);
  EXPECT_DOUBLE_EQ(getReduceScatterTime(kAxis, 4e6), 30e-6 + 3e-3);
  EXPECT_DOUBLE_EQ(getAllReduceTime(kAxis, 4e6), 60e-6 + 6e-3);
  EXPECT_DOUBLE_EQ(getAllToAllTime(kAxis, 1e6), 30e-6 + 0.75e-3);
  EXPECT_DOUBLE_EQ(getSendTime({"link", 10e-6, 1e9}, 1e6), 10e-6 + 1e-3);
}

// Tests that a link is found again from two all-reduces over four ranks, of
// which one latency is the meeting: 7 x 10 us + 3/2 x bytes / (1 GB/s).
TEST(Cost, FitLink) {
  std::optional<Link> link =
      fitLink(4, {1000, 70e-6 + 1.5e-6}, {1e6, 70e-6 + 1.5e-3});
  ASSERT_TRUE(link);
  EXPECT_NEAR(link->latency, 10e-6, 1e-12);
  EXPECT_NEAR(link->bandwidth, 1e9, 1);
  EXPECT_FALSE(fitLink(2, {1000, 2e-3}, {1e6, 1e-3}));
}

// Tests that an op takes the longer of arithmetic and memory, by precision.
TEST(Cost, Op) {
  mlir::MLIRContext context;
  mlir::Builder builder(&context);
  CostModel costs(makeCluster(1));
  mlir::Type f32 = builder.getF32Type();
  EXPECT_DOUBLE_EQ(costs.getOpTime({1e9, 1e6, 1e6, true}, f32), 10e-3);
  EXPECT_DOUBLE_EQ(costs.getOpTime({1e6, 6e6, 4e6, true}, f32), 1e-3);
  EXPECT_DOUBLE_EQ(costs.getOpTime({1e9, 0, 0, true}, builder.getF64Type()),
                   20e-3);
}

// Tests that what is no product runs at the vector rate, by default that of
// products, and that an op which makes a tensor takes the time of its start.
TEST(Cost, VectorsAndStarts) {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  Cluster cluster = makeCluster(1);
  EXPECT_DOUBLE_EQ(CostModel(cluster).getOpTime({1e9, 0, 0}, f32), 10e-3);
  cluster.devices[0].vector = 20e9;
  cluster.devices[0].call = 3e-6;
  CostModel costs(cluster);
  EXPECT_DOUBLE_EQ(costs.getOpTime({1e9, 0, 0}, f32), 50e-3);
  EXPECT_DOUBLE_EQ(costs.getOpTime({1e9, 0, 0, true}, f32), 10e-3);
  EXPECT_DOUBLE_EQ(costs.getOpTime({0, 6e6, 4e6}, f32), 3e-6 + 1e-3);
}

// Tests that what fits the cache moves at its bandwidth, but for products,
// whose weights come from memory.
TEST(Cost, Cache) {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  Cluster cluster = makeCluster(1);
  cluster.devices[0].cache = 1e6;
  cluster.devices[0].cacheBandwidth = 100e9;
  CostModel costs(cluster);
  EXPECT_DOUBLE_EQ(costs.getOpTime({0, 0.6e6, 0.4e6}, f32), 10e-6);
  EXPECT_DOUBLE_EQ(costs.getOpTime({0, 0.7e6, 0.4e6}, f32), 110e-6);
  EXPECT_DOUBLE_EQ(costs.getOpTime({0, 0.6e6, 0.4e6, true}, f32), 100e-6);
}

// Tests rows that are read in no order: from memory if what they are part of is
// larger than the cache, at a rate of its own.
TEST(Cost, Scattered) {
  mlir::MLIRContext context;
  mlir::Type f32 = mlir::Float32Type::get(&context);
  Cluster cluster = makeCluster(1);
  cluster.devices[0].cache = 1e6;
  cluster.devices[0].cacheBandwidth = 100e9;
  Work rows{0, 0.1e6, 0.1e6, false, 2e6};
  EXPECT_DOUBLE_EQ(CostModel(cluster).getOpTime(rows, f32), 20e-6);
  cluster.devices[0].scattered = 5e9;
  EXPECT_DOUBLE_EQ(CostModel(cluster).getOpTime(rows, f32), 40e-6);
  // Short rows take no less than those of 256 bytes.
  rows.scatteredRows = 1000;
  EXPECT_DOUBLE_EQ(CostModel(cluster).getOpTime(rows, f32), 512e3 / 5e9);
  rows.scatteredOver = 0.5e6;
  EXPECT_DOUBLE_EQ(CostModel(cluster).getOpTime(rows, f32), 2e-6);
}

// Tests what is read: y = x + broadcast(b) of 100 x 10 floats is part of the
// kernel that makes x, and reads the 10 floats of b.
TEST(Cost, FusedWork) {
  mlir::MLIRContext context;
  context.loadDialect<CleaveDialect>();
  mlir::OpBuilder b(&context);
  mlir::Location loc = b.getUnknownLoc();
  auto getType = [&](std::vector<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, b.getF32Type());
  };
  mlir::Block block;
  mlir::Value x = block.addArgument(getType({100, 10}), loc),
              bias = block.addArgument(getType({10}), loc);
  b.setInsertionPointToEnd(&block);
  auto wide =
      b.create<BroadcastOp>(loc, x.getType(), bias, llvm::ArrayRef<int64_t>{1});
  auto add = b.create<BinaryOp>(loc, x.getType(), BinaryKind::Add, x, wide);
  Work work = getFusedWork(add);
  EXPECT_DOUBLE_EQ(work.bytesRead, 40);
  EXPECT_EQ(work.bytesWritten, 0);
}

// Tests conversions of 1000 x 1000 floats (4 MB): each collective waits one
// latency for its ranks; chunks of rows are pieces of memory, of columns they
// are packed, which is a copy of 4 MB read and written: 0.8 ms.
TEST(Cost, Conversions) {
  CostModel costs(makeCluster(1));
  LocalTensor tensor{{1000, 1000}, 4};
  AxisState whole, rows = AxisState::getSplit(0, 1),
                   columns = AxisState::getSplit(1, 1),
                   partial = AxisState::getPartial(ReduceKind::Sum);
  auto time = [&](AxisState from, AxisState to) {
    return costs.getConversionTime(from, to, tensor, kAxis);
  };
  double gather = 10e-6 + 30e-6 + 3e-3;
  EXPECT_EQ(time(rows, rows), 0);
  EXPECT_DOUBLE_EQ(time(whole, rows), 0.2e-3);
  EXPECT_DOUBLE_EQ(time(rows, whole), gather);
  EXPECT_DOUBLE_EQ(time(columns, whole), gather + 0.8e-3);
  EXPECT_DOUBLE_EQ(time(partial, whole), 10e-6 + 60e-6 + 6e-3);
  EXPECT_DOUBLE_EQ(time(partial, rows), gather);
  EXPECT_DOUBLE_EQ(time(partial, columns), gather + 0.8e-3);
  EXPECT_DOUBLE_EQ(time(rows, columns), 10e-6 + 30e-6 + 0.75e-3 + 0.4e-3);
  EXPECT_TRUE(std::isinf(time(whole, partial)));
  EXPECT_TRUE(std::isinf(time(rows, partial)));
}

// Tests that an uneven split pays for its padding: 10 rows over 4 ranks are
// chunks of 3, so 12 rows travel, and are packed.
TEST(Cost, UnevenSplit) {
  CostModel costs(makeCluster(1));
  LocalTensor tensor{{10, 25000}, 4};
  AxisState rows = AxisState::getSplit(0, 1);
  EXPECT_DOUBLE_EQ(tensor.getBytes(rows, 4), 0.3e6);
  EXPECT_DOUBLE_EQ(costs.getConversionTime(rows, AxisState(), tensor, kAxis),
                   10e-6 + 30e-6 + 0.75 * 1.2e6 / 1e9 + 2 * 1.2e6 / 10e9);
}

// Tests that splits with the same chunks are the same layout: 384 = 6 x 64 over
// 2 ranks is 192 with any block; over 4 it is 96 without, 128 with whole heads.
TEST(Cost, Layouts) {
  AxisState plain = AxisState::getSplit(0, 1),
            heads = AxisState::getSplit(0, 64);
  EXPECT_TRUE(isSameLayout(plain, heads, {384}, 2));
  EXPECT_FALSE(isSameLayout(plain, heads, {384}, 4));
  EXPECT_FALSE(isSameLayout(plain, AxisState::getSplit(1, 1), {384, 384}, 2));
}

// Tests that an axis is bound by its slowest group: along tp ranks share a
// node, along dp they do not.
TEST(Cost, AxisLinks) {
  mlir::MLIRContext context;
  context.loadDialect<CleaveDialect>();
  CostModel costs(makeCluster(2));
  auto mesh = MeshAttr::get(&context,
                            {MeshAxisAttr::get(&context, "dp", 2),
                             MeshAxisAttr::get(&context, "tp", 2)},
                            {0, 1, 2, 3});
  AxisLink tp = costs.getAxisLink(mesh, "tp"),
           dp = costs.getAxisLink(mesh, "dp");
  EXPECT_EQ(tp.size, 2);
  EXPECT_EQ(tp.latency, 1e-6);
  EXPECT_EQ(tp.bandwidth, 10e9);
  EXPECT_EQ(dp.latency, 100e-6);
  EXPECT_EQ(dp.bandwidth, 1e9);
}

// Tests that what stages send goes over the slowest link between ranks of the
// same place: 0 and 1 share a node, 1 and 2 do not.
TEST(Cost, MeshLinks) {
  mlir::MLIRContext context;
  context.loadDialect<CleaveDialect>();
  CostModel costs(makeCluster(2));
  auto getMesh = [&](std::vector<int64_t> ranks) {
    auto axis =
        MeshAxisAttr::get(&context, "tp", static_cast<int64_t>(ranks.size()));
    return MeshAttr::get(&context, {axis}, ranks);
  };
  EXPECT_EQ(costs.getMeshLink(getMesh({0}), getMesh({1})).latency, 1e-6);
  EXPECT_EQ(costs.getMeshLink(getMesh({0, 1}), getMesh({1, 2})).latency,
            100e-6);
}

// Tests where ranks live: two a node, in order.
TEST(Cost, Cluster) {
  Cluster cluster = makeCluster(2);
  EXPECT_EQ(cluster.getRankCount(), 4);
  EXPECT_EQ(cluster.getNodeOf(1), 0);
  EXPECT_EQ(cluster.getNodeOf(2), 1);
  EXPECT_EQ(cluster.getLinkBetween({2, 3}).name, "near");
  EXPECT_EQ(cluster.getLinkBetween({1, 2}).name, "far");
  EXPECT_EQ(cluster.getCoresOf(3), 2);
  cluster.nodes[0].cores = 1;
  EXPECT_EQ(cluster.getCoresOf(3), 1);
  EXPECT_EQ(Cluster::getHost(3).getRankCount(), 3);
}

} // namespace
