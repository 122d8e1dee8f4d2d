//===- Unroll.cpp - control flow as straight-line code --------------------===//

#include "frontend/Unroll.h"

#include "llvm/ADT/STLExtras.h"

#include <iterator>

using namespace cleave;
using namespace mlir;

//===-- Added code --------------------------------------------------------===//

/// The operand with which an op may stop the step, if it has one: an index out
/// of range, a divisor of 0.
static OpOperand *findPerilousOperand(Operation *op) {
  OpOperand *operand = nullptr;
  if (isa<GatherOp, ScatterOp>(op))
    operand = &op->getOpOperand(1);
  auto binary = dyn_cast<BinaryOp>(op);
  if (binary && isa<IntegerType>(getElement(binary.getRhs())) &&
      (binary.getKind() == BinaryKind::Div ||
       binary.getKind() == BinaryKind::Mod))
    operand = &op->getOpOperand(1);
  return operand && !getConstant(operand->get()) ? operand : nullptr;
}

llvm::iterator_range<Block::iterator> AddedCode::getOps() const {
  return {before ? std::next(Block::iterator(before)) : block->begin(),
          block->end()};
}

void AddedCode::guard(Value condition) {
  for (Operation &op : llvm::make_early_inc_range(getOps())) {
    OpOperand *operand = findPerilousOperand(&op);
    if (!operand)
      continue;
    OpBuilder::InsertionGuard back(node.getBuilder());
    node.getBuilder().setInsertionPoint(&op);
    Value harmless = node.splat(operand->get(), isa<BinaryOp>(op) ? 1 : 0);
    operand->set(node.select(condition, operand->get(), harmless));
  }
}

LogicalResult AddedCode::verifySize(int64_t steps) {
  if (llvm::hasNItemsOrLess(getOps(), MaxUnrolledOps))
    return success();
  return node.emitError() << node.getNode().op_type()
                          << " is unrolled, which makes more than "
                          << MaxUnrolledOps << " operations after " << steps
                          << " steps";
}

//===-- Steps -------------------------------------------------------------===//

Value cleave::takeStep(NodeContext &node, Value x, int64_t dim, int64_t i) {
  if (!x)
    return nullptr;
  Shape shape(getShape(x));
  shape.erase(shape.begin() + dim);
  return node.reshape(node.sliceDim(x, dim, i, 1), shape);
}

Value cleave::stackSteps(NodeContext &node, ArrayRef<Value> steps,
                         int64_t dim) {
  SmallVector<Value> parts;
  for (Value step : steps) {
    if (!step)
      return nullptr;
    Shape shape(getShape(step));
    shape.insert(shape.begin() + dim, 1);
    parts.push_back(node.reshape(step, shape));
  }
  return node.concat(parts, dim);
}
