//===- ContractionGradients.cpp - convolutions backwards ------------------===//
//
// A convolution leads back by the transposed convolution of the same weight,
// and the other way round. Weights have an op of their own.
//
//===----------------------------------------------------------------------===//

#include "ir/Contraction.h"
#include "ir/Elementwise.h"
#include "ir/LogicalBuilder.h"
#include "ir/Movement.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

/// Elements of the padded input behind the last window of a convolution from
/// `in` to `out` elements.
static int64_t getRest(ConvOp op, int64_t i, int64_t in, int64_t out) {
  int64_t spatial = op.getStrides().size();
  int64_t kernel = op.getWeight().getType().getDimSize(2 + i);
  int64_t span = op.getDilations()[i] * (kernel - 1) + 1;
  int64_t pads = op.getPads()[i] + op.getPads()[spatial + i];
  return in + pads - span - op.getStrides()[i] * (out - 1);
}

static Value buildInputGradient(LogicalBuilder &b, ConvOp op, Value dresult) {
  RankedTensorType in = op.getInput().getType();
  SmallVector<int64_t> outputPadding(op.getStrides().size(), 0);
  if (!op.getTransposed())
    for (auto [i, rest] : llvm::enumerate(outputPadding))
      rest =
          getRest(op, i, in.getDimSize(2 + i), op.getType().getDimSize(2 + i));
  Value dx = b.b.create<ConvOp>(b.loc, dresult, op.getWeight(), op.getStrides(),
                                op.getPads(), op.getDilations(), outputPadding,
                                op.getGroups(), !op.getTransposed());
  // Of a transposed one, output padding may hold whole windows more.
  for (int64_t dim = 2; dim < in.getRank(); ++dim)
    dx = b.slice(dx, dim, 0, in.getDimSize(dim));
  return dx;
}

static Value buildWeightGradient(LogicalBuilder &b, ConvOp op, Value dresult) {
  Value input = op.getInput();
  if (op.getTransposed()) {
    // The convolution that leads back has these two in each other's place.
    SmallVector<int64_t> low(op.getType().getRank(), 0), high(low);
    for (size_t i = 0; i < op.getStrides().size(); ++i)
      high[2 + i] = getRest(op, i, op.getType().getDimSize(2 + i),
                            op.getInput().getType().getDimSize(2 + i)) /
                    op.getStrides()[i];
    Value padded = b.pad(input, low, high);
    input = dresult;
    dresult = padded;
  }
  return b.b.create<ConvWeightGradOp>(
      b.loc, input, dresult, op.getWeight().getType().getShape().drop_front(2),
      op.getStrides(), op.getPads(), op.getDilations(), op.getGroups());
}

SmallVector<Value> ConvOp::buildGradients(OpBuilder &builder, Value dresult,
                                          ArrayRef<bool> needed) {
  LogicalBuilder b(builder, getLoc());
  SmallVector<Value> result(2);
  if (needed[0])
    result[0] = buildInputGradient(b, *this, dresult);
  if (needed[1])
    result[1] = buildWeightGradient(b, *this, dresult);
  return result;
}

//===-- Gradient of the weight --------------------------------------------===//

LogicalResult ConvWeightGradOp::inferReturnTypes(MLIRContext *context,
                                                 std::optional<Location> loc,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  auto dresult = cast<RankedTensorType>(adaptor.getDresult().getType());
  ArrayRef<int64_t> kernel = adaptor.getKernel();
  size_t spatial = kernel.size(), rank = spatial + 2;
  size_t groups = adaptor.getGroups();
  if (spatial < 1 || spatial > 3 || input.getShape().size() != rank ||
      dresult.getShape().size() != rank ||
      adaptor.getStrides().size() != spatial ||
      adaptor.getDilations().size() != spatial ||
      adaptor.getPads().size() != 2 * spatial)
    return emitOptionalError(
        loc,
        "needs 1 to 3 spatial dims with a kernel size, stride, dilation "
        "and two pads each, found ",
        input, " and ", dresult);
  if (groups < 1 || input.getDimSize(1) % groups)
    return emitOptionalError(loc, "channels of ", input, " do not fit ", groups,
                             " groups");
  SmallVector<int64_t> shape = {dresult.getDimSize(1),
                                input.getDimSize(1) / int64_t(groups)};
  shape.append(kernel.begin(), kernel.end());
  types.push_back(input.clone(shape));
  SmallVector<int64_t> outputPadding(spatial, 0);
  FailureOr<RankedTensorType> expected = getConvType(
      loc, input, cast<RankedTensorType>(types[0]),
      {adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(),
       outputPadding, static_cast<int64_t>(groups), /*transposed=*/false});
  if (failed(expected))
    return failure();
  if (*expected != dresult)
    return emitOptionalError(loc, "dresult has type ", dresult,
                             ", the convolution gives ", *expected);
  return success();
}

/// As for the convolution: the batch is summed, channels are parallel.
ShardingRule ConvWeightGradOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType in = getInput().getType(), out = getDresult().getType();
  auto channels = getGroups() == 1 ? FactorKind::Parallel : FactorKind::Whole;
  int64_t batch = rule.addFactor(in.getDimSize(0), FactorKind::Reduction);
  TensorFactors input = {{batch}, {rule.addFactor(in.getDimSize(1), channels)}};
  TensorFactors dresult = {{batch},
                           {rule.addFactor(out.getDimSize(1), channels)}};
  TensorFactors result = {dresult[1], input[1]};
  if (getGroups() != 1)
    result[1] = {rule.addFactor(getType().getDimSize(1), FactorKind::Whole)};
  for (int64_t dim = 2; dim < in.getRank(); ++dim) {
    auto whole = [&](RankedTensorType type) {
      return DimFactors{
          rule.addFactor(type.getDimSize(dim), FactorKind::Whole)};
    };
    input.push_back(whole(in));
    dresult.push_back(whole(out));
    result.push_back(whole(getType()));
  }
  rule.operands = {input, dresult};
  rule.results = {result};
  return rule;
}

/// Every element of dresult meets the kernel once a channel of its group.
Work ConvWeightGradOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = 2.0 * getType().getNumElements() / getType().getDimSize(0) *
               getDresult().getType().getNumElements();
  work.isProduct = true;
  return work;
}
