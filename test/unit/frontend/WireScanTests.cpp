//===- WireScanTests.cpp - what the scan cuts, keeps and refuses ----------===//

#include "frontend/Onnx.h"
#include "frontend/WireScan.h"
#include "gtest/gtest.h"

using namespace cleave;
using namespace mlir;

namespace {

onnx::ModelProto makeModel() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  model.set_producer_name("a test");
  model.mutable_graph()->set_name("g");
  return model;
}

onnx::ModelProto scan(const std::string &bytes) {
  std::string reduced, error;
  EXPECT_TRUE(succeeded(scanModel(bytes, reduced, error))) << error;
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(reduced));
  return model;
}

std::string getError(const std::string &bytes) {
  std::string reduced, error;
  EXPECT_TRUE(failed(scanModel(bytes, reduced, error)));
  return error;
}

std::string getEntry(const onnx::TensorProto &tensor, const std::string &key) {
  for (const auto &entry : tensor.external_data())
    if (entry.key() == key)
      return entry.value();
  return "";
}

/// The bytes that a cut tensor refers to.
std::string getCutBytes(const std::string &bytes,
                        const onnx::TensorProto &tensor) {
  EXPECT_EQ(tensor.data_location(), onnx::TensorProto::EXTERNAL);
  EXPECT_EQ(getEntry(tensor, "location"), ModelFileLocation);
  return bytes.substr(std::stoull(getEntry(tensor, "offset")),
                      std::stoull(getEntry(tensor, "length")));
}

TEST(WireScan, CutsLargeRawDataOfInitializers) {
  onnx::ModelProto model = makeModel();
  std::string data(5000, 'x');
  data[4999] = 'y';
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->add_dims(5000);
  tensor->set_data_type(onnx::TensorProto::UINT8);
  tensor->set_raw_data(data);
  std::string bytes = model.SerializeAsString();
  const onnx::ModelProto reduced = scan(bytes);
  const onnx::TensorProto &cut = reduced.graph().initializer(0);
  EXPECT_EQ(getCutBytes(bytes, cut), data);
  EXPECT_FALSE(cut.has_raw_data());
  EXPECT_EQ(cut.name(), "w");
  EXPECT_EQ(cut.dims(0), 5000);
  EXPECT_EQ(reduced.producer_name(), "a test");
  EXPECT_LT(reduced.ByteSizeLong(), 200u);
}

TEST(WireScan, CutsPackedFloatsOfFloatTensors) {
  onnx::ModelProto model = makeModel();
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (int i = 0; i < 1000; ++i)
    tensor->add_float_data(i);
  std::string bytes = model.SerializeAsString();
  std::string data = getCutBytes(bytes, scan(bytes).graph().initializer(0));
  ASSERT_EQ(data.size(), 4000u);
  float last;
  std::memcpy(&last, data.data() + 3996, 4);
  EXPECT_EQ(last, 999);
}

// Complex numbers are pairs in float_data: not the tensor's own element type.
TEST(WireScan, KeepsFloatsOfOtherTypes) {
  onnx::ModelProto model = makeModel();
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_data_type(onnx::TensorProto::COMPLEX64);
  for (int i = 0; i < 1000; ++i)
    tensor->add_float_data(i);
  EXPECT_EQ(
      scan(model.SerializeAsString()).graph().initializer(0).float_data_size(),
      1000);
}

TEST(WireScan, KeepsSmallData) {
  onnx::ModelProto model = makeModel();
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_raw_data(std::string(LargeTensorBytes - 1, 'x'));
  const onnx::ModelProto reduced = scan(model.SerializeAsString());
  EXPECT_EQ(reduced.SerializeAsString(), model.SerializeAsString());
}

// Weights of Constant nodes, in bodies of control flow and in functions too.
TEST(WireScan, CutsTensorsOfAttributesAtAnyDepth) {
  onnx::ModelProto model = makeModel();
  std::string data(2000, 'z');
  auto addConstant = [&](onnx::NodeProto *node) {
    onnx::AttributeProto *value = node->add_attribute();
    value->set_name("value");
    value->mutable_t()->set_raw_data(data);
  };
  onnx::NodeProto *branch = model.mutable_graph()->add_node();
  onnx::GraphProto *body = branch->add_attribute()->mutable_g();
  addConstant(body->add_node());
  addConstant(model.mutable_graph()->add_node());
  addConstant(model.add_functions()->add_node());
  std::string bytes = model.SerializeAsString();
  const onnx::ModelProto cut = scan(bytes);
  const onnx::GraphProto &graph = cut.graph();
  EXPECT_EQ(getCutBytes(
                bytes, graph.node(0).attribute(0).g().node(0).attribute(0).t()),
            data);
  EXPECT_EQ(getCutBytes(bytes, graph.node(1).attribute(0).t()), data);
  EXPECT_EQ(getCutBytes(bytes, cut.functions(0).node(0).attribute(0).t()),
            data);
}

TEST(WireScan, RefusesWhatIsNoModel) {
  EXPECT_EQ(getError(""), "there is no graph in its 0 bytes");
  EXPECT_EQ(getError("\x08\x0a"), "there is no graph in its 2 bytes");
  EXPECT_EQ(getError(std::string("\0", 1)), "at byte 0 there is no field tag");
  EXPECT_EQ(getError("\x3b"), "at byte 1 there is no field of a known kind");
}

TEST(WireScan, RefusesWhatStopsEarly) {
  // Field 7 of 5 bytes, of which 2 are there.
  EXPECT_EQ(getError("\x08\x0a\x3a\x05zz"),
            "at byte 3 field 7 needs 5 bytes, found 2");
  EXPECT_EQ(getError("\x3a\xff"), "at byte 1 a length does not end");
  EXPECT_EQ(getError("\x08\xff"), "at byte 1 a number does not end");
}

// Cutting a model at any byte gives an error, or what the rest does not need.
TEST(WireScan, SurvivesEveryCut) {
  onnx::ModelProto model = makeModel();
  onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
  tensor->set_raw_data(std::string(300, 'x'));
  std::string bytes = model.SerializeAsString();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(getError(bytes.substr(0, size)).empty()) << size;
}

} // namespace
