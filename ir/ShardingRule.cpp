//===- ShardingRule.cpp - builds and questions factor rules ---------------===//

#include "ir/ShardingRule.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

#include "ir/Interfaces.cpp.inc"

int64_t ShardingRule::addFactor(int64_t size, FactorKind kind,
                                ReduceKind reduction) {
  factors.push_back({size, kind, reduction});
  return factors.size() - 1;
}

int64_t ShardingRule::findMajor(const TensorFactors &tensor, int64_t factor,
                                ArrayRef<Factor> factors) {
  for (auto [dim, list] : llvm::enumerate(tensor)) {
    const auto *it = llvm::find(list, factor);
    if (it == list.end())
      continue;
    bool major = std::all_of(list.begin(), it, [&](int64_t other) {
      return factors[other].size == 1;
    });
    return major ? static_cast<int64_t>(dim) : -2;
  }
  return -1;
}

bool ShardingRule::isSplittable(int64_t factor) const {
  const Factor &info = factors[factor];
  if (info.kind == FactorKind::Whole || info.size <= 1)
    return false;
  auto isMajor = [&](const TensorFactors &tensor) {
    return findMajor(tensor, factor, factors) != -2;
  };
  return llvm::all_of(operands, isMajor) && llvm::all_of(results, isMajor);
}

int64_t ShardingRule::getBlock(const DimFactors &dim) const {
  int64_t block = 1;
  bool beyondMajor = false;
  for (int64_t factor : dim) {
    if (beyondMajor)
      block *= factors[factor].size;
    else if (factors[factor].size != 1)
      beyondMajor = true;
  }
  return block;
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

ShardingRule cleave::getRowwiseRule(Operation *op,
                                    ArrayRef<bool> parallelDims) {
  ShardingRule rule;
  TensorFactors tensor;
  for (auto [size, parallel] :
       llvm::zip(getShape(op->getResult(0)), parallelDims))
    tensor.push_back({rule.addFactor(size, parallel ? FactorKind::Parallel
                                                    : FactorKind::Whole)});
  rule.operands.assign(op->getNumOperands(), tensor);
  rule.results.assign(op->getNumResults(), tensor);
  return rule;
}

ShardingRule cleave::getElementwiseRule(Operation *op, bool linear) {
  SmallVector<bool> parallel(getShape(op->getResult(0)).size(), true);
  ShardingRule rule = getRowwiseRule(op, parallel);
  if (linear)
    rule.linearOperands.assign(llvm::to_vector(
        llvm::seq<int64_t>(0, static_cast<int64_t>(op->getNumOperands()))));
  return rule;
}

ShardingRule cleave::getWholeRule(Operation *op) {
  ShardingRule rule;
  auto addTensor = [&](Value value) {
    TensorFactors tensor;
    for (int64_t size : getShape(value))
      tensor.push_back({rule.addFactor(size, FactorKind::Whole)});
    return tensor;
  };
  for (Value operand : op->getOperands())
    rule.operands.push_back(addTensor(operand));
  for (Value result : op->getResults())
    rule.results.push_back(addTensor(result));
  return rule;
}

int64_t cleave::getByteSize(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bits = tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * ((bits + 7) / 8);
}

Work cleave::getElementwiseWork(Operation *op, double flopsPerElement) {
  Work work;
  for (Value operand : op->getOperands())
    work.bytesRead += getByteSize(operand.getType());
  for (Value result : op->getResults())
    work.bytesWritten += getByteSize(result.getType());
  if (op->getNumResults())
    work.flops =
        flopsPerElement *
        cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
  return work;
}

Operation *cleave::cloneWithTypes(OpBuilder &builder, Operation *op,
                                  ValueRange operands, TypeRange resultTypes) {
  OperationState state(op->getLoc(), op->getName(), operands, resultTypes,
                       op->getAttrs());
  return builder.create(state);
}
