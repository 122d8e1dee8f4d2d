//===- FlagsTests.cpp - what --bind, --shapes and --value take ------------===//

#include "frontend/Import.h"
#include "gtest/gtest.h"

using namespace cleave;
using namespace mlir;

namespace {

TEST(Flags, BindSplitsAtTheLastEqualSign) {
  ImportOptions options;
  std::string error;
  EXPECT_TRUE(succeeded(parseBinding("batch=8", options, error)));
  EXPECT_TRUE(succeeded(parseBinding("a=b=0", options, error)));
  EXPECT_EQ(options.bindings.at("batch"), 8);
  EXPECT_EQ(options.bindings.at("a=b"), 0);
  for (const char *text : {"batch", "=8", "batch=", "batch=-1", "batch=8x"})
    EXPECT_TRUE(failed(parseBinding(text, options, error))) << text;
}

TEST(Flags, BindTwiceMustAgree) {
  ImportOptions options;
  std::string error;
  EXPECT_TRUE(succeeded(parseBinding("n=8", options, error)));
  EXPECT_TRUE(succeeded(parseBinding("n=8", options, error)));
  EXPECT_TRUE(failed(parseBinding("n=9", options, error)));
  EXPECT_EQ(error, "dim 'n' is bound to 8 and to 9");
}

TEST(Flags, ShapesSplitAtTheLastColon) {
  ImportOptions options;
  std::string error;
  EXPECT_TRUE(succeeded(parseShape("x:8x128", options, error)));
  EXPECT_TRUE(succeeded(parseShape("scope:y:0:3", options, error)));
  EXPECT_TRUE(succeeded(parseShape("scalar:", options, error)));
  EXPECT_EQ(options.shapes.at("x"), (llvm::SmallVector<int64_t>{8, 128}));
  EXPECT_EQ(options.shapes.at("scope:y:0"), llvm::SmallVector<int64_t>{3});
  EXPECT_TRUE(options.shapes.at("scalar").empty());
  for (const char *text : {"x", ":8", "x:8x", "x:8xq", "x:-1"})
    EXPECT_TRUE(failed(parseShape(text, options, error))) << text;
}

TEST(Flags, ShapesTwiceMustAgree) {
  ImportOptions options;
  std::string error;
  EXPECT_TRUE(succeeded(parseShape("x:8x128", options, error)));
  EXPECT_TRUE(succeeded(parseShape("x:8x128", options, error)));
  EXPECT_TRUE(failed(parseShape("x:4x128", options, error)));
  EXPECT_EQ(error, "input 'x' has two shapes");
}

TEST(Flags, ValuesSplitAtTheLastEqualSign) {
  ImportOptions options;
  std::string error;
  EXPECT_TRUE(succeeded(parseValue("axes=-1, 2", options, error)));
  EXPECT_TRUE(succeeded(parseValue("a=b=0.5", options, error)));
  EXPECT_TRUE(succeeded(parseValue("none=", options, error)));
  using List = llvm::SmallVector<std::string>;
  EXPECT_EQ(options.values.at("axes"), (List{"-1", "2"}));
  EXPECT_EQ(options.values.at("a=b"), List{"0.5"});
  EXPECT_TRUE(options.values.at("none").empty());
  for (const char *text : {"axes", "=1", ""})
    EXPECT_TRUE(failed(parseValue(text, options, error))) << text;
  EXPECT_TRUE(failed(parseValue("axes=3", options, error)));
  EXPECT_EQ(error, "input 'axes' has two values");
}

} // namespace
