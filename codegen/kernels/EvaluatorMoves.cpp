//===- EvaluatorMoves.cpp - memory accesses and ops that move indices -----===//
//
// A moving op evaluates its operand in a frame of its own, whose point is
// derived from the point of the result.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Evaluator.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

//===-- Memory ------------------------------------------------------------===//

namespace {
/// What a point means for a view.
struct Place {
  Value address;
  int64_t step = 0;
  Value offsets;         ///< per lane, beside the step; null: none
  int64_t alignment = 0; ///< of the address, in bytes
};
} // namespace

static Place locate(Code &code, const View &view, const Frame &frame,
                    int64_t lanes) {
  Place place;
  Value offset = code.index(0);
  int64_t bytes = getMemoryBytes(view.element);
  place.alignment = std::max(view.alignment, bytes);
  for (auto [index, stride] : llvm::zip_equal(frame.point, view.strides)) {
    if (stride == 0)
      continue;
    offset = code.add(offset, code.mul(index.base, stride));
    place.alignment =
        std::gcd(place.alignment, stride * bytes * index.multiple);
    place.step += index.step * stride;
    if (!index.lanes)
      continue;
    Value scaled = code.mul(
        index.lanes, code.constant(index.lanes.getType(), double(stride)));
    place.offsets = place.offsets ? code.add(place.offsets, scaled) : scaled;
  }
  place.address = code.address(view.base, getMemoryType(view.element), offset);
  return place;
}

Value Evaluator::load(const View &view, const Frame &frame) {
  Place place = locate(code, view, frame, lanes);
  if (!place.offsets)
    return code.load(place.address, view.element, place.step, frame.mask, lanes,
                     place.alignment);
  Value numbers = code.laneNumbers(lanes);
  Value steps =
      code.mul(numbers, code.constant(numbers.getType(), double(place.step)));
  return code.gather(place.address, view.element,
                     code.add(place.offsets, steps), frame.mask);
}

void Evaluator::store(Value value, const View &view, const Frame &frame) {
  Place place = locate(code, view, frame, lanes);
  code.store(value, place.address, view.element, place.step, frame.mask,
             place.alignment);
}

/// In bytes.
static constexpr int64_t TableAlignment = 64;

View cleave::makeConstantView(Code &code, DenseElementsAttr value) {
  OpBuilder &b = code.b;
  Type element = value.getElementType();
  if (element.isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : value.getValues<bool>())
      bytes.push_back(bit);
    value = DenseElementsAttr::get(
        cast<ShapedType>(value.getType().clone(b.getI8Type())),
        ArrayRef<int8_t>(bytes));
  }
  Operation *function = b.getBlock()->getParentOp();
  while (!isa<LLVM::LLVMFuncOp>(function))
    function = function->getParentOp();
  auto module = function->getParentOfType<ModuleOp>();
  std::string prefix = cast<LLVM::LLVMFuncOp>(function).getName().str();
  int64_t number = 0;
  while (module.lookupSymbol(prefix + ".table" + std::to_string(number)))
    ++number;
  std::string name = prefix + ".table" + std::to_string(number);
  int64_t count = value.getNumElements();
  Type memory = getMemoryType(element);
  auto flat = DenseElementsAttr(value).reshape(
      RankedTensorType::get({count}, value.getElementType()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    b.create<LLVM::GlobalOp>(code.loc, LLVM::LLVMArrayType::get(memory, count),
                             /*isConstant=*/true, LLVM::Linkage::Internal, name,
                             flat, TableAlignment);
  }
  View view;
  view.base = b.create<LLVM::AddressOfOp>(code.loc, code.pointerType(), name);
  view.element = element;
  view.alignment = TableAlignment;
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(value.getType().getShape())) {
    view.strides.insert(view.strides.begin(), size == 1 ? 0 : stride);
    stride *= size;
  }
  return view;
}

//===-- Indices -----------------------------------------------------------===//

Value Evaluator::indexVector(const Index &index) {
  Value vector = code.splat(index.base, lanes);
  if (index.step) {
    Value numbers = code.laneNumbers(lanes);
    Value steps =
        code.mul(numbers, code.constant(numbers.getType(), double(index.step)));
    vector = code.add(vector, steps);
  }
  return index.lanes ? code.add(vector, index.lanes) : vector;
}

Value Evaluator::lanesBelow(const Index &index, Value limit) {
  if (index.isUniform())
    return code.splat(code.less(index.base, limit), lanes);
  if (index.step == 1 && !index.lanes)
    return code.laneMask(code.sub(limit, index.base), lanes);
  return code.less(indexVector(index), code.splat(limit, lanes));
}

Value Evaluator::rankIndex(Value value, Frame &frame) {
  Frame scalar;
  return code.extract(at(value, scalar), 0);
}

void Evaluator::reportIf(Value bad, const Frame &frame) {
  Value found = code.both(bad, frame.mask);
  Value any = code.b.create<vector::ReductionOp>(
      code.loc, vector::CombiningKind::OR, found);
  code.ifThen(any, [&] {
    code.b.create<LLVM::StoreOp>(code.loc, code.index(1), errorCell, 8,
                                 /*isVolatile=*/false, /*isNonTemporal=*/false,
                                 LLVM::AtomicOrdering::monotonic);
  });
}

Index Evaluator::checkedIndex(Value indices, Frame &frame, int64_t size) {
  Type element = getElementTypeOrSelf(indices.getType());
  bool uniform =
      llvm::all_of(frame.point, [](const Index &i) { return i.isUniform(); });
  Value vector = at(indices, frame);
  vector = convertElement(code, vector, element, code.b.getI64Type());
  auto c = [&](int64_t value) {
    return code.constant(vector.getType(), double(value));
  };
  Value zero = c(0), extent = c(size);
  Value isNegative = code.less(vector, zero);
  vector = code.select(isNegative, code.add(vector, extent), vector);
  Value bad = code.b.create<arith::CmpIOp>(code.loc, arith::CmpIPredicate::uge,
                                           vector, extent);
  reportIf(bad, frame);
  vector = code.select(bad, zero, vector);
  if (uniform)
    return {code.extract(vector, 0), 0, Value()};
  return {code.index(0), 0, vector};
}

//===-- Ops ---------------------------------------------------------------===//

Value Evaluator::evaluate(BroadcastOp op, Frame &frame) {
  Frame inner;
  inner.mask = frame.mask;
  for (auto [dim, size] :
       llvm::zip(op.getDims(), op.getX().getType().getShape()))
    inner.point.push_back(size == 1 ? Index{code.index(0), 0, Value(), 0}
                                    : frame.point[dim]);
  return at(op.getX(), inner);
}

Value Evaluator::evaluate(TransposeOp op, Frame &frame) {
  Frame inner;
  inner.mask = frame.mask;
  inner.point.resize(frame.point.size());
  for (auto [i, dim] : llvm::enumerate(op.getPerm()))
    inner.point[dim] = frame.point[i];
  return at(op.getX(), inner);
}

Value Evaluator::evaluate(SliceOp op, Frame &frame) {
  Frame inner;
  inner.mask = frame.mask;
  for (auto [index, start, stride] :
       llvm::zip(frame.point, op.getStarts(), op.getStrides())) {
    Index moved = index;
    moved.base = code.add(code.mul(index.base, stride), start);
    moved.step *= stride;
    moved.multiple = std::gcd(moved.multiple * stride, start);
    if (index.lanes)
      moved.lanes = code.mul(
          index.lanes, code.constant(index.lanes.getType(), double(stride)));
    inner.point.push_back(moved);
  }
  return at(op.getX(), inner);
}

Value Evaluator::evaluate(IotaOp op, Frame &frame) {
  Value index = indexVector(frame.point[op.getDim()]);
  return convertElement(code, index, code.b.getI64Type(),
                        op.getType().getElementType());
}

Value Evaluator::evaluate(GatherOp op, Frame &frame) {
  int64_t dim = op.getDim(), batch = op.getBatchDims();
  int64_t own = op.getIndices().getType().getRank() - batch;
  ArrayRef<Index> point = frame.point;
  Frame indices;
  indices.mask = frame.mask;
  llvm::append_range(indices.point, point.take_front(batch));
  llvm::append_range(indices.point, point.slice(dim, own));
  Frame source;
  source.mask = frame.mask;
  llvm::append_range(source.point, point.take_front(dim));
  source.point.push_back(checkedIndex(op.getIndices(), indices,
                                      op.getX().getType().getDimSize(dim)));
  llvm::append_range(source.point, point.drop_front(dim + own));
  return at(op.getX(), source);
}

Value Evaluator::evaluate(MaskOp op, Frame &frame) {
  int64_t chunk = op.getX().getType().getDimSize(op.getDim());
  Value start = code.mul(rankIndex(op.getIndex(), frame), chunk);
  Value limit = code.sub(code.index(op.getSize()), start);
  Value valid = lanesBelow(frame.point[op.getDim()], limit);
  Value x = at(op.getX(), frame);
  Value fill = code.constant(x.getType(), op.getFill().convertToDouble());
  return code.select(valid, x, fill);
}

/// Where all lanes are inside or none is, an element that is inside is read in
/// place of one that is not, so that vectors are loaded without a mask.
Value Evaluator::evaluate(TakeShardOp op, Frame &frame) {
  int64_t dim = op.getDim();
  int64_t size = op.getX().getType().getDimSize(dim);
  int64_t chunk = op.getType().getDimSize(dim);
  Value start = code.mul(rankIndex(op.getIndex(), frame), chunk);
  Frame inner;
  inner.point = frame.point;
  inner.mask = frame.mask;
  Index &moved = inner.point[dim];
  Value first = moved.base;
  moved.base = code.add(first, start);
  moved.multiple = std::gcd(moved.multiple, chunk);
  Value valid = lanesBelow(moved, code.index(size));
  if (size > 0 && size % chunk == 0)
    moved.base = code.add(first, code.min(start, code.index(size - chunk)));
  else if (size > 0 && moved.isUniform())
    moved.base = code.min(
        moved.base, code.index((size - 1) / moved.multiple * moved.multiple));
  else
    inner.mask = code.both(frame.mask, valid);
  Value x = at(op.getX(), inner);
  return code.select(valid, x, code.constant(x.getType(), 0.0));
}
