//===- LogicalBuilder.cpp - write formulas in logical ops -----------------===//

#include "ir/LogicalBuilder.h"

#include "ir/Contraction.h"
#include "ir/Elementwise.h"
#include "ir/Movement.h"
#include "ir/Reduction.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

SmallVector<int64_t> cleave::getDims(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}

SmallVector<int64_t> cleave::getOtherDims(int64_t rank,
                                          ArrayRef<int64_t> dims) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

RankedTensorType cleave::getTensorType(Value value) {
  return mlir::cast<RankedTensorType>(value.getType());
}

static ArrayRef<int64_t> getShape(Value value) {
  return getTensorType(value).getShape();
}

//===-- Elementwise -------------------------------------------------------===//

Value LogicalBuilder::unary(UnaryKind kind, Value x) {
  return b.createOrFold<UnaryOp>(loc, x.getType(), kind, x);
}
Value LogicalBuilder::binary(BinaryKind kind, Value x, Value y) {
  return b.createOrFold<BinaryOp>(loc, x.getType(), kind, x, y);
}
Value LogicalBuilder::add(Value x, Value y) {
  return binary(BinaryKind::Add, x, y);
}
Value LogicalBuilder::sub(Value x, Value y) {
  return binary(BinaryKind::Sub, x, y);
}
Value LogicalBuilder::mul(Value x, Value y) {
  return binary(BinaryKind::Mul, x, y);
}
Value LogicalBuilder::div(Value x, Value y) {
  return binary(BinaryKind::Div, x, y);
}
Value LogicalBuilder::neg(Value x) { return unary(UnaryKind::Neg, x); }

Value LogicalBuilder::compare(CompareKind kind, Value x, Value y) {
  return b.create<CompareOp>(loc, kind, x, y);
}
Value LogicalBuilder::select(Value condition, Value x, Value y) {
  return b.create<SelectOp>(loc, condition, x, y);
}
Value LogicalBuilder::cast(Value x, Type element) {
  RankedTensorType type = getTensorType(x);
  if (type.getElementType() == element)
    return x;
  return b.create<CastOp>(loc, type.clone(element), x);
}

//===-- Constants ---------------------------------------------------------===//

Value LogicalBuilder::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute scalar = isa<FloatType>(element)
                         ? Attribute(b.getFloatAttr(element, value))
                         : b.getIntegerAttr(element, int64_t(value));
  return b.create<ConstantOp>(loc, DenseElementsAttr::get(type, scalar));
}
Value LogicalBuilder::splat(Value like, double value) {
  return splat(getTensorType(like), value);
}
Value LogicalBuilder::iota(RankedTensorType type, int64_t dim) {
  return b.create<IotaOp>(loc, type, dim);
}

//===-- Reductions and products -------------------------------------------===//

Value LogicalBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  return dims.empty() ? x : b.create<ReduceOp>(loc, kind, x, dims).getResult();
}
Value LogicalBuilder::sum(Value x, ArrayRef<int64_t> dims) {
  return reduce(ReduceKind::Sum, x, dims);
}
Value LogicalBuilder::dot(Value x, Value y, ArrayRef<int64_t> xBatch,
                          ArrayRef<int64_t> yBatch, ArrayRef<int64_t> xContract,
                          ArrayRef<int64_t> yContract) {
  return b.create<DotOp>(loc, x, y, xBatch, yBatch, xContract, yContract);
}

//===-- Movement ----------------------------------------------------------===//

Value LogicalBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (getShape(x) == shape)
    return x;
  return b.createOrFold<ReshapeOp>(loc, getTensorType(x).clone(shape), x);
}
Value LogicalBuilder::transpose(Value x, ArrayRef<int64_t> perm) {
  return b.createOrFold<TransposeOp>(loc, x, b.getDenseI64ArrayAttr(perm));
}
Value LogicalBuilder::repeat(Value x, ArrayRef<int64_t> shape,
                             ArrayRef<int64_t> dims) {
  if (getShape(x) == shape)
    return x;
  return b.createOrFold<BroadcastOp>(loc, getTensorType(x).clone(shape), x,
                                     dims);
}
Value LogicalBuilder::repeatAlong(Value x, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> reduced) {
  return repeat(x, shape, getOtherDims(shape.size(), reduced));
}
Value LogicalBuilder::slice(Value x, int64_t dim, int64_t start, int64_t size) {
  if (getShape(x)[dim] == size)
    return x;
  SmallVector<int64_t> sizes(getShape(x)), starts(sizes.size(), 0),
      strides(sizes.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return b.create<SliceOp>(loc, x, starts, sizes, strides);
}
Value LogicalBuilder::pad(Value x, ArrayRef<int64_t> low,
                          ArrayRef<int64_t> high) {
  auto isZero = [](int64_t count) { return count == 0; };
  if (llvm::all_of(low, isZero) && llvm::all_of(high, isZero))
    return x;
  return b.create<PadOp>(loc, x, low, high, llvm::APFloat(0.0));
}
