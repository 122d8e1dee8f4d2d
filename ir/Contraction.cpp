//===- Contraction.cpp - types, rules, work and gradients -----------------===//

#include "ir/Contraction.h"

#include "ir/Movement.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Contraction.cpp.inc"

//===-- Dot ---------------------------------------------------------------===//

/// Dims of a tensor of `rank` that are in neither list.
static SmallVector<int64_t> getFreeDims(int64_t rank, ArrayRef<int64_t> batch,
                                        ArrayRef<int64_t> contract) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      free.push_back(dim);
  return free;
}

SmallVector<int64_t> DotOp::getLhsFree() {
  return getFreeDims(getLhs().getType().getRank(), getLhsBatch(),
                     getLhsContract());
}
SmallVector<int64_t> DotOp::getRhsFree() {
  return getFreeDims(getRhs().getType().getRank(), getRhsBatch(),
                     getRhsContract());
}

/// Every dim in range and listed once.
static bool areDistinctDims(ArrayRef<int64_t> batch, ArrayRef<int64_t> contract,
                            int64_t rank) {
  SmallVector<int64_t> all(batch);
  all.append(contract.begin(), contract.end());
  llvm::sort(all);
  return std::adjacent_find(all.begin(), all.end()) == all.end() &&
         llvm::all_of(all, [&](int64_t dim) { return dim >= 0 && dim < rank; });
}

LogicalResult DotOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatch(),
                    rhsBatch = adaptor.getRhsBatch();
  ArrayRef<int64_t> lhsContract = adaptor.getLhsContract();
  ArrayRef<int64_t> rhsContract = adaptor.getRhsContract();
  if (lhs.getElementType() != rhs.getElementType())
    return emitOptionalError(loc, "element types must agree, found ", lhs,
                             " and ", rhs);
  if (lhsBatch.size() != rhsBatch.size() ||
      lhsContract.size() != rhsContract.size() ||
      !areDistinctDims(lhsBatch, lhsContract, lhs.getRank()) ||
      !areDistinctDims(rhsBatch, rhsContract, rhs.getRank()))
    return emitOptionalError(
        loc,
        "batch and contracting dims must come in pairs, in "
        "range and unique, for ",
        lhs, " and ", rhs);
  auto checkSizes = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
    for (auto [l, r] : llvm::zip(left, right))
      if (lhs.getDimSize(l) != rhs.getDimSize(r))
        return emitOptionalError(loc, "dim ", l, " of ", lhs, " and dim ", r,
                                 " of ", rhs, " must have the same size");
    return success();
  };
  if (failed(checkSizes(lhsBatch, rhsBatch)) ||
      failed(checkSizes(lhsContract, rhsContract)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : lhsBatch)
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : getFreeDims(lhs.getRank(), lhsBatch, lhsContract))
    shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : getFreeDims(rhs.getRank(), rhsBatch, rhsContract))
    shape.push_back(rhs.getDimSize(dim));
  types.push_back(lhs.clone(shape));
  return success();
}

ShardingRule DotOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors lhs(getLhs().getType().getRank()),
      rhs(getRhs().getType().getRank());
  TensorFactors result;
  auto shapeOf = [](Value v) {
    return cast<RankedTensorType>(v.getType()).getShape();
  };
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    int64_t factor = rule.addFactor(shapeOf(getLhs())[l]);
    lhs[l] = rhs[r] = {factor};
    result.push_back({factor});
  }
  for (auto [l, r] : llvm::zip(getLhsContract(), getRhsContract())) {
    int64_t factor =
        rule.addFactor(shapeOf(getLhs())[l], FactorKind::Reduction);
    lhs[l] = rhs[r] = {factor};
  }
  for (int64_t dim : getLhsFree()) {
    lhs[dim] = {rule.addFactor(shapeOf(getLhs())[dim])};
    result.push_back(lhs[dim]);
  }
  for (int64_t dim : getRhsFree()) {
    rhs[dim] = {rule.addFactor(shapeOf(getRhs())[dim])};
    result.push_back(rhs[dim]);
  }
  rule.operands = {lhs, rhs};
  rule.results = {result};
  return rule;
}

Work DotOp::getWork() {
  Work work = getElementwiseWork(*this, 2);
  for (int64_t dim : getLhsContract())
    work.flops *= getLhs().getType().getDimSize(dim);
  work.isProduct = true;
  return work;
}

/// The gradient of one operand: dy times the other operand, contracted over the
/// other's free dims, then transposed to the operand's order.
static Value
buildDotGradient(OpBuilder &b, Location loc, Value dy, Value other,
                 int64_t batchCount, ArrayRef<int64_t> dyContract,
                 ArrayRef<int64_t> otherBatch, ArrayRef<int64_t> otherContract,
                 ArrayRef<int64_t> otherFree, ArrayRef<int64_t> ownBatch,
                 ArrayRef<int64_t> ownFree, ArrayRef<int64_t> ownContract) {
  auto dyBatch = llvm::to_vector(llvm::seq<int64_t>(0, batchCount));
  Value product = b.create<DotOp>(loc, dy, other, dyBatch, otherBatch,
                                  dyContract, otherFree);
  // The product has dims [batch, own free, other contracting in other's order].
  SmallVector<int64_t> position(ownBatch.size() + ownFree.size() +
                                ownContract.size());
  int64_t next = 0;
  for (int64_t dim : ownBatch)
    position[dim] = next++;
  for (int64_t dim : ownFree)
    position[dim] = next++;
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, otherContract.size()));
  llvm::sort(order, [&](int64_t i, int64_t j) {
    return otherContract[i] < otherContract[j];
  });
  for (int64_t i : order)
    position[ownContract[i]] = next++;
  return b.createOrFold<TransposeOp>(loc, product,
                                     b.getDenseI64ArrayAttr(position));
}

SmallVector<Value> DotOp::buildGradients(OpBuilder &b, Value dresult,
                                         ArrayRef<bool> needed) {
  SmallVector<Value> result(2);
  int64_t batch = getLhsBatch().size();
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  auto range = [](int64_t from, int64_t count) {
    return llvm::to_vector(llvm::seq<int64_t>(from, from + count));
  };
  int64_t rhsStart = batch + lhsFree.size();
  if (needed[0])
    result[0] = buildDotGradient(b, getLoc(), dresult, getRhs(), batch,
                                 range(rhsStart, rhsFree.size()), getRhsBatch(),
                                 getRhsContract(), rhsFree, getLhsBatch(),
                                 lhsFree, getLhsContract());
  if (needed[1])
    result[1] = buildDotGradient(b, getLoc(), dresult, getLhs(), batch,
                                 range(batch, lhsFree.size()), getLhsBatch(),
                                 getLhsContract(), lhsFree, getRhsBatch(),
                                 rhsFree, getRhsContract());
  return result;
}

//===-- Conv --------------------------------------------------------------===//

/// Size of a spatial dim of the result, as ONNX Conv and ConvTranspose say;
/// negative when the kernel is larger than the padded input.
static int64_t getConvSize(int64_t in, int64_t kernel, int64_t stride,
                           int64_t dilation, int64_t pads,
                           int64_t outputPadding, bool transposed) {
  int64_t span = dilation * (kernel - 1) + 1;
  if (transposed)
    return stride * (in - 1) + outputPadding + span - pads;
  return in + pads < span ? -1 : (in + pads - span) / stride + 1;
}

FailureOr<RankedTensorType> cleave::getConvType(std::optional<Location> loc,
                                                RankedTensorType input,
                                                RankedTensorType weight,
                                                const ConvWindow &window) {
  int64_t spatial = input.getRank() - 2, groups = window.groups;
  auto isCount = [&](ArrayRef<int64_t> list, int64_t count) {
    return static_cast<int64_t>(list.size()) == count;
  };
  if (spatial < 1 || spatial > 3 || weight.getRank() != input.getRank() ||
      input.getElementType() != weight.getElementType())
    return emitOptionalError(
        loc, "needs 1 to 3 spatial dims and one element type, found ", input,
        " and ", weight);
  if (!isCount(window.strides, spatial) ||
      !isCount(window.dilations, spatial) ||
      !isCount(window.outputPadding, spatial) ||
      !isCount(window.pads, 2 * spatial))
    return emitOptionalError(
        loc,
        "needs one stride, dilation and output padding and two "
        "pads for each of ",
        spatial, " spatial dims");
  auto areAtLeast = [](ArrayRef<int64_t> list, int64_t least) {
    return llvm::all_of(list, [&](int64_t value) { return value >= least; });
  };
  if (!areAtLeast(window.strides, 1) || !areAtLeast(window.dilations, 1) ||
      !areAtLeast(window.pads, 0) || !areAtLeast(window.outputPadding, 0) ||
      !areAtLeast(weight.getShape().drop_front(2), 1))
    return emitOptionalError(
        loc, "strides, dilations and the kernel's dims must be positive, pads "
             "and output padding not negative");
  bool transposed = window.transposed;
  int64_t inChannels =
      transposed ? weight.getDimSize(0) : weight.getDimSize(1) * groups;
  if (groups < 1 || input.getDimSize(1) != inChannels ||
      weight.getDimSize(0) % groups)
    return emitOptionalError(loc, "channels of ", input, " and ", weight,
                             " do not fit ", groups, " groups");
  SmallVector<int64_t> shape = {input.getDimSize(0),
                                transposed ? weight.getDimSize(1) * groups
                                           : weight.getDimSize(0)};
  for (int64_t i = 0; i < spatial; ++i)
    shape.push_back(getConvSize(
        input.getDimSize(2 + i), weight.getDimSize(2 + i), window.strides[i],
        window.dilations[i], window.pads[i] + window.pads[spatial + i],
        window.outputPadding[i], transposed));
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return emitOptionalError(loc, "kernel is larger than the padded input ",
                             input);
  return input.clone(shape);
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> loc,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = getConvType(
      loc, cast<RankedTensorType>(adaptor.getInput().getType()),
      cast<RankedTensorType>(adaptor.getWeight().getType()),
      {adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations(),
       adaptor.getOutputPadding(), static_cast<int64_t>(adaptor.getGroups()),
       adaptor.getTransposed()});
  if (failed(type))
    return failure();
  types.push_back(*type);
  return success();
}

/// Batch and output channels are parallel, input channels are summed (one
/// group); spatial dims would need a halo and stay whole.
ShardingRule ConvOp::getShardingRule() {
  ShardingRule rule;
  auto in = getInput().getType(), out = getType(),
       weight = getWeight().getType();
  bool grouped = getGroups() != 1;
  int64_t batch = rule.addFactor(in.getDimSize(0));
  int64_t inChannel = rule.addFactor(
      in.getDimSize(1), grouped ? FactorKind::Whole : FactorKind::Reduction);
  int64_t outChannel = rule.addFactor(
      out.getDimSize(1), grouped ? FactorKind::Whole : FactorKind::Parallel);
  TensorFactors input = {{batch}, {inChannel}},
                result = {{batch}, {outChannel}};
  TensorFactors kernel = {{getTransposed() ? inChannel : outChannel},
                          {getTransposed() ? outChannel : inChannel}};
  if (grouped)
    kernel = {{rule.addFactor(weight.getDimSize(0), FactorKind::Whole)},
              {rule.addFactor(weight.getDimSize(1), FactorKind::Whole)}};
  for (int64_t dim = 2; dim < in.getRank(); ++dim) {
    input.push_back({rule.addFactor(in.getDimSize(dim), FactorKind::Whole)});
    kernel.push_back(
        {rule.addFactor(weight.getDimSize(dim), FactorKind::Whole)});
    result.push_back({rule.addFactor(out.getDimSize(dim), FactorKind::Whole)});
  }
  rule.operands = {input, kernel};
  rule.results = {result};
  return rule;
}

/// Two FLOPs for each product: every output element (input element when
/// transposed) meets the kernel once a channel of its group.
Work ConvOp::getWork() {
  Work work = getElementwiseWork(*this, 0);
  RankedTensorType weight = getWeight().getType();
  double kernel = 2.0 * weight.getNumElements() / weight.getDimSize(0);
  work.flops =
      kernel *
      (getTransposed() ? getInput().getType() : getType()).getNumElements();
  work.isProduct = true;
  return work;
}
