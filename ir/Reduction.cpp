//===- Reduction.cpp - types, rules, work and gradients -------------------===//

#include "ir/Reduction.h"
#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"
#include "ir/Movement.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Reduction.cpp.inc"

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> dims = adaptor.getDims();
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= type.getRank() || (i && dims[i - 1] >= dim))
      return emitOptionalError(
          loc, "dims must be sorted, unique and in range of ", type);
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(type.getDimSize(dim));
  types.push_back(type.clone(shape));
  return success();
}

ShardingRule ReduceOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors operand, result;
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape())) {
    bool reduced = llvm::is_contained(getDims(), static_cast<int64_t>(dim));
    operand.push_back({rule.addFactor(
        size, reduced ? FactorKind::Reduction : FactorKind::Parallel,
        getKind())});
    if (!reduced)
      result.push_back(operand.back());
  }
  rule.operands = {operand};
  rule.results = {result};
  if (getKind() == ReduceKind::Sum)
    rule.linearOperands = {0};
  return rule;
}

Work ReduceOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = getX().getType().getNumElements();
  return work;
}

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  if (getDims().empty())
    return getX();
  auto x = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  RankedTensorType type = getX().getType();
  bool isInteger = isa<IntegerType>(type.getElementType()) &&
                   !type.getElementType().isUnsignedInteger();
  if (!x || !isInteger || type.getNumElements() > 4096 || type.getRank() != 1)
    return {};
  Attribute neutral = getNeutralElement(getKind(), type.getElementType());
  int64_t result = cast<IntegerAttr>(neutral).getValue().getSExtValue();
  auto combine =
      getInfo(getCombiningKind(getKind(), type.getElementType())).evaluateInt;
  for (const APInt &value : x.getValues<APInt>())
    result = combine(result, value.getSExtValue());
  return DenseElementsAttr::get(
      getType(),
      static_cast<Attribute>(IntegerAttr::get(type.getElementType(), result)));
}

//===-- Cumulate ----------------------------------------------------------===//

/// Whether `dim` is one of `type`; else an error.
static LogicalResult verifyDim(std::optional<Location> loc, int64_t dim,
                               RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return emitOptionalError(loc, "dim ", dim, " is out of range of ", type);
}

LogicalResult CumulateOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  types.push_back(type);
  if (type.getElementType().isInteger(1))
    return emitOptionalError(loc, "cannot cumulate bools, found ", type);
  return verifyDim(loc, adaptor.getDim(), type);
}

ShardingRule CumulateOp::getShardingRule() {
  SmallVector<bool> parallel(getType().getRank(), true);
  parallel[getDim()] = false;
  ShardingRule rule = getRowwiseRule(*this, parallel);
  if (getKind() == ReduceKind::Sum &&
      isa<FloatType>(getType().getElementType()))
    rule.linearOperands = {0};
  return rule;
}

Work CumulateOp::getWork() { return getElementwiseWork(*this, 1); }

//===-- Top k -------------------------------------------------------------===//

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  int64_t dim = adaptor.getDim(), k = adaptor.getK();
  if (failed(verifyDim(loc, dim, type)))
    return failure();
  if (k < 0 || k > type.getDimSize(dim))
    return emitOptionalError(loc, "k is ", k, ", expected at most the ",
                             type.getDimSize(dim), " elements of dim ", dim,
                             " of ", type);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = k;
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

ShardingRule TopKOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors operand;
  for (auto [dim, size] : llvm::enumerate(getX().getType().getShape()))
    operand.push_back({rule.addFactor(
        size, dim == getDim() ? FactorKind::Whole : FactorKind::Parallel)});
  TensorFactors result = operand;
  result[getDim()] = {rule.addFactor(getK(), FactorKind::Whole)};
  rule.operands = {operand};
  rule.results = {result};
  return rule;
}

/// Each element is compared with the worst of the k best.
Work TopKOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  work.flops = 2.0 * getX().getType().getNumElements();
  return work;
}

//===-- Pool --------------------------------------------------------------===//

LogicalResult PoolOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  Type element = type.getElementType();
  size_t spatial = std::max<int64_t>(type.getRank() - 2, 0);
  if (spatial < 1 || spatial > 3)
    return emitOptionalError(loc, "needs 1 to 3 spatial dims, found ", type);
  if (element.isInteger(1) ||
      (adaptor.getKind() == PoolKind::Average && !isa<FloatType>(element)))
    return emitOptionalError(loc, "kind ", stringifyPoolKind(adaptor.getKind()),
                             " does not exist for ", element);
  ArrayRef<int64_t> kernel = adaptor.getKernel(),
                    strides = adaptor.getStrides(), pads = adaptor.getPads(),
                    dilations = adaptor.getDilations();
  if (kernel.size() != spatial || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial)
    return emitOptionalError(
        loc,
        "needs one kernel size, stride and dilation and two pads for each "
        "of ",
        spatial, " spatial dims");
  SmallVector<int64_t> shape(type.getShape().take_front(2));
  for (size_t i = 0; i < spatial; ++i) {
    PoolWindow window{type.getDimSize(2 + i), kernel[i], strides[i],
                      dilations[i],           pads[i],   pads[spatial + i],
                      adaptor.getCeil()};
    if (window.kernel < 1 || window.stride < 1 || window.dilation < 1 ||
        window.low < 0 || window.high < 0)
      return emitOptionalError(loc, "kernel, strides and dilations must be "
                                    "positive, pads not negative");
    shape.push_back(window.getCount());
    if (shape.back() < 0)
      return emitOptionalError(loc, "kernel is larger than the padded input ",
                               type);
  }
  types.push_back(type.clone(shape));
  return success();
}

PoolWindow PoolOp::getWindow(int64_t dim) {
  int64_t i = dim - 2, spatial = getKernel().size();
  return {getX().getType().getDimSize(dim),
          getKernel()[i],
          getStrides()[i],
          getDilations()[i],
          getPads()[i],
          getPads()[spatial + i],
          getCeil()};
}

ReduceKind PoolOp::getReduction() {
  return getKind() == PoolKind::Max ? ReduceKind::Max : ReduceKind::Sum;
}

/// Batch and channels are parallel; spatial dims would need a halo and stay
/// whole.
ShardingRule PoolOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors operand, result;
  for (auto [dim, sizes] : llvm::enumerate(
           llvm::zip(getX().getType().getShape(), getType().getShape()))) {
    auto [in, out] = sizes;
    auto kind = dim < 2 ? FactorKind::Parallel : FactorKind::Whole;
    operand.push_back({rule.addFactor(in, kind)});
    result.push_back(dim < 2 ? operand.back()
                             : DimFactors{rule.addFactor(out, kind)});
  }
  rule.operands = {operand};
  rule.results = {result};
  if (getKind() != PoolKind::Max)
    rule.linearOperands = {0};
  return rule;
}

/// One FLOP for each element of each window.
Work PoolOp::getWork() {
  Work work = getElementwiseWork(*this, 1);
  for (int64_t size : getKernel())
    work.flops *= size;
  return work;
}
