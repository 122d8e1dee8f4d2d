//===- OperatorTableTests.cpp - the newest applicable handler wins --------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"
#include "gtest/gtest.h"

using namespace cleave;
using namespace mlir;

namespace {

TEST(OperatorTable, NewestApplicableVersionWins) {
  OperatorTable table;
  int called = 0;
  auto handle = [&](int version) -> OpHandler {
    return [&called, version](NodeContext &) {
      called = version;
      return success();
    };
  };
  table.onOp("acme", "Foo", 3, handle(3));
  table.onOp("acme", "Foo", 7, handle(7));
  EXPECT_EQ(table.find("acme", "Foo", 2), nullptr);
  // The handlers do not look at it.
  alignas(NodeContext) std::byte none[sizeof(NodeContext)] = {};
  for (auto [opset, expected] : {std::pair(3, 3), {6, 3}, {7, 7}, {100, 7}}) {
    const OpHandler *handler = table.find("acme", "Foo", opset);
    ASSERT_NE(handler, nullptr);
    EXPECT_TRUE(succeeded((*handler)(reinterpret_cast<NodeContext &>(none))));
    EXPECT_EQ(called, expected) << "opset " << opset;
  }
}

TEST(OperatorTable, DomainsAreApart) {
  OperatorTable table;
  EXPECT_NE(table.find("", "Relu", 17), nullptr);
  EXPECT_EQ(table.find("acme", "Relu", 17), nullptr);
  EXPECT_EQ(table.find("", "NoSuchOperator", 17), nullptr);
}

// Gelu came with opset 20; Softmax changed its meaning with opset 13.
TEST(OperatorTable, KnowsSinceWhen) {
  OperatorTable table;
  EXPECT_EQ(table.find("", "Gelu", 19), nullptr);
  EXPECT_NE(table.find("", "Gelu", 20), nullptr);
  EXPECT_NE(table.find("", "Softmax", 12), table.find("", "Softmax", 13));
  EXPECT_EQ(table.find("", "Softmax", 13), table.find("", "Softmax", 18));
}

} // namespace
