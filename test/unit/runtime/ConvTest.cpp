//===- ConvTest.cpp - convolutions against plain loops --------------------===//

#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"
#include "test/unit/runtime/Tensors.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace cleave::rt;
using namespace cleave::test;

namespace {
/// A convolution in the words of ONNX.
struct Setting {
  Sizes input;  ///< [N, C, spatial...]
  Sizes weight; ///< [O, C/groups, k...] or transposed [C, O/groups, k...]
  Sizes stride, dilation, low, high;
  int64_t groups = 1;
  bool transposed = false;
};

class Case {
public:
  explicit Case(const Setting &setting);
  void run(CleaveContext &context, int slot);
  void expectRight() const;
  /// Says that the weights and the operands of post-operations stay.
  void declareConstants(CleaveContext &context) const;
  void addPost(int32_t kind, const CleaveTensorDesc &operand = {}) {
    desc.postOps[desc.postOpCount++] = {kind, operand};
    operands.push_back(someValues(extentOf(operand), desc.postOpCount + 5));
  }
  Sizes outputDims() const {
    return Sizes(desc.output.dims, desc.output.dims + desc.output.rank);
  }

  /// Images with their channels innermost in memory.
  void setChannelsLast();

  CleaveConvDesc desc{};
  /// The post-operation whose operand lies where the output goes.
  int inPlace = -1;
  std::vector<float> input, weight, output;
  std::vector<std::vector<float>> operands;

private:
  /// The result before post-operations, by scattering or gathering products.
  std::vector<double> convolved() const;
};
} // namespace

Case::Case(const Setting &s) {
  desc.input = dense(s.input);
  desc.weight = dense(s.weight);
  desc.transposed = s.transposed;
  desc.spatialRank = static_cast<int32_t>(s.input.size()) - 2;
  desc.groups = s.groups;
  Sizes out = {s.input[0], s.transposed ? s.weight[1] * s.groups : s.weight[0]};
  for (int d = 0; d < desc.spatialRank; ++d) {
    desc.stride[d] = s.stride[d];
    desc.dilation[d] = s.dilation[d];
    desc.padLow[d] = s.low[d];
    desc.padHigh[d] = s.high[d];
    int64_t kernel = (s.weight[d + 2] - 1) * s.dilation[d] + 1;
    int64_t pads = s.low[d] + s.high[d], n = s.input[d + 2];
    out.push_back(s.transposed ? (n - 1) * s.stride[d] + kernel - pads
                               : (n + pads - kernel) / s.stride[d] + 1);
  }
  desc.output = dense(out);
  input = someValues(extentOf(desc.input), 1);
  weight = someValues(extentOf(desc.weight), 2);
  output.assign(extentOf(desc.output), 55.f);
}

void Case::setChannelsLast() {
  for (CleaveTensorDesc *tensor : {&desc.input, &desc.output}) {
    int64_t stride = tensor->dims[1];
    tensor->strides[1] = 1;
    for (int d = tensor->rank - 1; d >= 2; stride *= tensor->dims[d--])
      tensor->strides[d] = stride;
    tensor->strides[0] = stride;
  }
}

std::vector<double> Case::convolved() const {
  std::vector<double> result(output.size(), 0.0);
  // The small side is the one that strides multiply: output of a convolution,
  // input of a transposed one. Each of its items meets the large side.
  const CleaveTensorDesc &small = desc.transposed ? desc.input : desc.output;
  const CleaveTensorDesc &large = desc.transposed ? desc.output : desc.input;
  Sizes at(small.rank, 0);
  do {
    int64_t perGroup = small.dims[1] / desc.groups;
    int64_t group = at[1] / perGroup;
    Sizes w(desc.weight.rank, 0);
    w[0] = at[1];
    do {
      if (w[0] != at[1])
        break;
      Sizes there = {at[0], group * desc.weight.dims[1] + w[1]};
      bool inside = true;
      for (int d = 0; d < desc.spatialRank; ++d) {
        there.push_back(at[d + 2] * desc.stride[d] +
                        w[d + 2] * desc.dilation[d] - desc.padLow[d]);
        inside &= there.back() >= 0 && there.back() < large.dims[d + 2];
      }
      if (!inside)
        continue;
      auto offset = [](const CleaveTensorDesc &tensor, const Sizes &index) {
        int64_t sum = 0;
        for (int d = 0; d < tensor.rank; ++d)
          sum += index[d] * tensor.strides[d];
        return sum;
      };
      const Sizes &from = desc.transposed ? at : there;
      const Sizes &to = desc.transposed ? there : at;
      result[offset(desc.output, to)] +=
          static_cast<double>(input[offset(desc.input, from)]) *
          weight[offset(desc.weight, w)];
    } while (advance(w, desc.weight.dims));
  } while (advance(at, small.dims));
  return result;
}

void Case::declareConstants(CleaveContext &context) const {
  context.addConstant(weight.data(), weight.size() * sizeof(float));
  for (const std::vector<float> &operand : operands)
    context.addConstant(operand.data(), operand.size() * sizeof(float));
}

void Case::run(CleaveContext &context, int slot) {
  std::vector<const void *> post;
  for (const auto &operand : operands)
    post.push_back(operand.data());
  if (inPlace >= 0) {
    output = operands[inPlace];
    post[inPlace] = output.data();
  }
  cleaveConv(&context, slot, &desc, input.data(), weight.data(), output.data(),
             post.data());
  ASSERT_NO_THROW(context.throwIfFailed());
}

void Case::expectRight() const {
  std::vector<double> expected = convolved();
  Sizes index(desc.output.rank, 0);
  for (size_t count = 0; count < expected.size(); ++count) {
    int64_t i = offsetAt(desc.output, index);
    for (int p = 0; p < desc.postOpCount; ++p)
      expected[i] =
          reference(desc.postOps[p].kind, expected[i],
                    operands[p][offsetAt(desc.postOps[p].operand, index)]);
    ASSERT_NEAR(output[i], expected[i], 5e-5)
        << "at " << testing::PrintToString(index);
    advance(index, desc.output.dims);
  }
}

static void check(const Setting &setting) {
  CleaveContext context(nullptr, 1, 1);
  Case test(setting);
  test.run(context, 0);
  test.expectRight();
}

// Tests strides, dilations, uneven pads and groups in two dims.
TEST(Conv, TwoDims) {
  check({{1, 3, 8, 8}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  check({{2, 3, 9, 7}, {4, 3, 3, 2}, {2, 1}, {1, 2}, {0, 2}, {1, 0}});
  check({{1, 16, 6, 6}, {32, 8, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2});
  check({{1, 8, 6, 6}, {8, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 8});
}

// Tests the patch convolution of a vision transformer: stride = kernel.
TEST(Conv, Patches) {
  check({{2, 3, 12, 8}, {10, 3, 4, 4}, {4, 4}, {1, 1}, {0, 0}, {0, 0}});
}

// Tests one and three spatial dims.
TEST(Conv, OneAndThreeDims) {
  check({{2, 4, 11}, {6, 4, 3}, {2}, {1}, {1}, {1}});
  check({{1, 2, 5, 4, 6},
         {3, 2, 2, 3, 2},
         {1, 1, 2},
         {1, 1, 1},
         {0, 1, 0},
         {0, 1, 0}});
}

// Tests transposed convolutions, with groups and uneven pads.
TEST(Conv, Transposed) {
  check({{1, 4, 5, 5}, {4, 6, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 1, true});
  check({{2, 4, 5, 3}, {4, 3, 2, 4}, {1, 2}, {2, 1}, {0, 1}, {1, 0}, 2, true});
  check({{1, 3, 7}, {3, 2, 3}, {2}, {1}, {0}, {1}, 1, true});
}

// Tests bias, activation and residual after a convolution.
TEST(Conv, PostOps) {
  Setting setting{{1, 3, 8, 8}, {16, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  for (int32_t kind = CLEAVE_POST_GELU_ERF; kind <= CLEAVE_POST_SILU; ++kind) {
    CleaveContext context(nullptr, 1, 1);
    Case test(setting);
    test.addPost(CLEAVE_POST_ADD, dense({1, 16, 1, 1}));
    test.addPost(kind);
    test.addPost(CLEAVE_POST_ADD, dense(test.outputDims()));
    test.run(context, 0);
    test.expectRight();
  }
}

// Tests channels innermost, a residual that the result overwrites, and one that
// it does not; the same where oneDNN moves the result, or has no fast code.
TEST(Conv, ChannelsLast) {
  Setting images{{2, 16, 8, 8}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  Setting grouped = images, transposed = images;
  grouped.weight = {16, 1, 3, 3};
  grouped.groups = 16;
  transposed.weight = {16, 32, 3, 3};
  transposed.transposed = true;
  for (const Setting &setting : {images, grouped, transposed})
    for (bool channelsLast : {true, false})
      for (int inPlace : {-1, 2}) {
        CleaveContext context(nullptr, 1, 1);
        Case test(setting);
        if (channelsLast)
          test.setChannelsLast();
        CleaveTensorDesc channel = dense({1, test.desc.output.dims[1], 1, 1});
        test.addPost(CLEAVE_POST_MUL, channel);
        test.addPost(CLEAVE_POST_ADD, channel);
        test.addPost(CLEAVE_POST_ADD, test.desc.output);
        test.addPost(CLEAVE_POST_RELU);
        test.inPlace = inPlace;
        test.run(context, 0);
        test.expectRight();
        test.run(context, 0);
        test.expectRight();
      }
}

// Tests that weights that change are used as they are at each call, and that
// constant ones are reordered once.
TEST(Conv, WeightsAreReorderedWhenTheyMayChange) {
  Setting setting{{1, 16, 8, 8}, {16, 16, 3, 3}, {1, 1},
                  {1, 1},        {1, 1},         {1, 1}};
  CleaveContext context(nullptr, 2, 1);
  Case changing(setting), constant(setting);
  context.addConstant(constant.weight.data(), constant.weight.size() * 4);
  changing.run(context, 0);
  constant.run(context, 1);
  std::vector<float> others = someValues(changing.weight.size(), 99);
  std::copy(others.begin(), others.end(), changing.weight.begin());
  std::copy(others.begin(), others.end(), constant.weight.begin());
  changing.run(context, 0);
  changing.expectRight();
  std::vector<float> before = constant.output;
  constant.run(context, 1);
  EXPECT_EQ(constant.output, before);
}

// Tests constant factors and summands of the channels, which go into weights
// and bias, with and without groups, and through Winograd's algorithm (64
// channels, 3x3), with what may follow.
TEST(Conv, ConstantFactors) {
  Setting small{{2, 16, 8, 8}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  Setting grouped = small, strided = small, winograd = small;
  grouped.weight = {16, 4, 3, 3};
  grouped.groups = 4;
  strided.stride = {2, 2};
  winograd.input = {2, 64, 9, 7};
  winograd.weight = {64, 64, 3, 3};
  for (const Setting &setting : {small, grouped, strided, winograd})
    for (bool channelsLast : {true, false})
      for (bool hasResidual : {true, false})
        for (int64_t factors : {int64_t{1}, setting.weight[0]}) {
          SCOPED_TRACE(testing::Message()
                       << testing::PrintToString(setting.weight) << " last "
                       << channelsLast << " residual " << hasResidual
                       << " factors " << factors);
          CleaveContext context(nullptr, 1, 1);
          Case test(setting);
          if (channelsLast)
            test.setChannelsLast();
          test.addPost(CLEAVE_POST_MUL, dense({1, factors, 1, 1}));
          test.addPost(CLEAVE_POST_ADD,
                       dense({1, test.desc.output.dims[1], 1, 1}));
          if (hasResidual)
            test.addPost(CLEAVE_POST_ADD, test.desc.output);
          test.addPost(CLEAVE_POST_RELU);
          test.declareConstants(context);
          test.run(context, 0);
          test.expectRight();
          test.run(context, 0);
          test.expectRight();
        }
}
