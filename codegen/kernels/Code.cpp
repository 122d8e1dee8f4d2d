//===- Code.cpp - write loops, vector arithmetic and memory accesses ------===//
//
// Everything is built through createOrFold where it can fold, so that static
// bounds and strides leave no arithmetic behind.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Code.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace cleave;
using namespace mlir;

Type cleave::getComputeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (isa<IntegerType>(element))
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return element;
}

Type cleave::getMemoryType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (isa<IntegerType>(element))
    return IntegerType::get(element.getContext(),
                            element.getIntOrFloatBitWidth());
  return element;
}

int64_t cleave::getMemoryBytes(Type element) {
  return getMemoryType(element).getIntOrFloatBitWidth() / 8;
}

//===-- Index arithmetic --------------------------------------------------===//

Value Code::index(int64_t value) {
  return b.create<arith::ConstantOp>(loc, b.getI64IntegerAttr(value));
}
Value Code::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}
Value Code::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(loc, x, y);
}
Value Code::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(loc, x, y);
}
Value Code::div(Value x, int64_t y) {
  return b.createOrFold<arith::DivUIOp>(loc, x, index(y));
}
Value Code::rem(Value x, int64_t y) {
  return b.createOrFold<arith::RemUIOp>(loc, x, index(y));
}
Value Code::min(Value x, Value y) {
  return b.createOrFold<arith::MinSIOp>(loc, x, y);
}
Value Code::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(loc, x, y);
}
Value Code::less(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}

Value Code::differ(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, x, y);
}

//===-- Control -----------------------------------------------------------===//

// Bodies are written into ops that stand in their function already: what they
// declare beside it is found from where they are.

Code::Values Code::loop(Value from, Value to, int64_t step, ValueRange init,
                        function_ref<Values(Value, ValueRange)> body) {
  auto loop = b.create<scf::ForOp>(loc, from, to, index(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())
    b.create<scf::YieldOp>(loc, next);
  return Values(loop.getResults());
}

void Code::loop(Value from, Value to, int64_t step,
                function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

void Code::ifThen(Value condition, function_ref<void()> body) {
  auto branch = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

//===-- Vectors -----------------------------------------------------------===//

VectorType Code::vectorOf(Type element, int64_t lanes) {
  return VectorType::get({lanes}, element);
}

Value Code::constant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return constant(type, b.getFloatAttr(element, value));
  llvm::APSInt integer(64, /*isUnsigned=*/false); // saturates
  bool isExact;
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                        &isExact);
  return constant(type, b.getIntegerAttr(element, integer.getSExtValue()));
}

Value Code::constant(Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return b.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(vector, Attribute(scalar)));
  return b.create<arith::ConstantOp>(loc, scalar);
}

Value Code::splat(Value scalar, int64_t lanes) {
  return b.create<vector::BroadcastOp>(loc, vectorOf(scalar.getType(), lanes),
                                       scalar);
}

Value Code::extract(Value vector, int64_t lane) {
  return b.create<vector::ExtractOp>(loc, vector, lane);
}

Value Code::insert(Value scalar, Value vector, int64_t lane) {
  return b.create<vector::InsertOp>(loc, scalar, vector, lane);
}

Value Code::laneNumbers(int64_t lanes) {
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  return b.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(vectorOf(b.getI64Type(), lanes),
                                  ArrayRef<int64_t>(numbers)));
}

Value Code::laneMask(Value count, int64_t lanes) {
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value lane = b.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(vectorOf(b.getI32Type(), lanes),
                                  ArrayRef<int32_t>(numbers)));
  // Counts beyond the lanes say the same as `lanes`, and fit 32 bits.
  Value clamped = max(min(count, index(lanes)), index(0));
  Value narrow = b.createOrFold<arith::TruncIOp>(loc, b.getI32Type(), clamped);
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, lane,
                                 splat(narrow, lanes));
}

Value Code::both(Value mask, Value other) {
  if (!mask || !other)
    return mask ? mask : other;
  return b.create<arith::AndIOp>(loc, mask, other);
}

Value Code::select(Value condition, Value x, Value y) {
  return b.create<arith::SelectOp>(loc, condition, x, y);
}

Value Code::fma(Value x, Value y, Value z) {
  return b.create<math::FmaOp>(loc, x, y, z);
}

Value Code::larger(Value x, Value y) {
  Value greater = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OGT, x, y);
  return select(greater, x, y);
}

Value Code::combineLanes(Value vector,
                         function_ref<Value(Value, Value)> combine) {
  for (int64_t lanes = cast<VectorType>(vector.getType()).getDimSize(0);
       lanes > 1; lanes /= 2) {
    auto half = [&](int64_t from) -> Value {
      auto numbers = llvm::to_vector(llvm::seq(from, from + lanes / 2));
      return b.create<vector::ShuffleOp>(loc, vector, vector, numbers);
    };
    vector = combine(half(0), half(lanes / 2));
  }
  return extract(vector, 0);
}

/// Swaps, for each bit of the index, the off-diagonal blocks of that size.
void Code::transpose(Values &rows) {
  for (int64_t bit = 1; bit < Lanes; bit *= 2)
    for (int64_t i = 0; i < Lanes; ++i) {
      if (i & bit)
        continue;
      SmallVector<int64_t> upper, lower;
      for (int64_t lane = 0; lane < Lanes; ++lane) {
        upper.push_back(lane & bit ? Lanes + lane - bit : lane);
        lower.push_back(lane & bit ? Lanes + lane : lane + bit);
      }
      Value x = rows[i], y = rows[i + bit];
      rows[i] = b.create<vector::ShuffleOp>(loc, x, y, upper);
      rows[i + bit] = b.create<vector::ShuffleOp>(loc, x, y, lower);
    }
}

/// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2, with the
/// polynomial and the split of ln 2 of Cephes expf (S. Moshier).
Value Code::expNegative(Value x) {
  Type type = x.getType();
  Type bits =
      VectorType::get(cast<VectorType>(type).getShape(), b.getI32Type());
  auto c = [&](double value) { return constant(type, value); };
  Value tiny =
      b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, c(-87.0));
  Value n = b.create<math::RoundEvenOp>(
      loc, b.create<arith::MulFOp>(loc, x, c(1.44269504088896341)));
  Value r = fma(n, c(-0.693359375), x);
  r = fma(n, c(2.12194440e-4), r);
  Value p = c(1.9875691500e-4);
  for (double coefficient : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                             1.6666665459e-1, 5.0000001201e-1})
    p = fma(p, r, c(coefficient));
  Value square = b.create<arith::MulFOp>(loc, r, r);
  p = fma(p, square, b.create<arith::AddFOp>(loc, r, c(1.0)));
  Value exponent = b.create<arith::ShLIOp>(
      loc, b.create<arith::FPToSIOp>(loc, bits, n), constant(bits, 23.0));
  Value scaled = b.create<arith::AddIOp>(
      loc, b.create<arith::BitcastOp>(loc, bits, p), exponent);
  return select(tiny, c(0.0), b.create<arith::BitcastOp>(loc, type, scaled));
}

//===-- Memory ------------------------------------------------------------===//

Type Code::pointerType() { return LLVM::LLVMPointerType::get(b.getContext()); }

Value Code::address(Value base, Type memory, Value offset) {
  Type type = pointerType();
  if (auto vector = dyn_cast<VectorType>(offset.getType()))
    type = LLVM::getFixedVectorType(type, vector.getDimSize(0));
  return b.create<LLVM::GEPOp>(loc, type, memory, base, offset);
}

/// Vectors need no more than 16 bytes anywhere, and say no more.
static unsigned getAlignment(Type element, int64_t known) {
  constexpr int64_t Most = 16;
  return std::max(std::min(known, Most), getMemoryBytes(element));
}

Value Code::load(Value address, Type element, int64_t step, Value mask,
                 int64_t lanes, int64_t known) {
  if (step == 0 && !mask)
    return splat(loadScalar(address, element), lanes);
  Type memory = getMemoryType(element);
  if (step != 1) {
    Value offsets = b.create<arith::MulIOp>(
        loc, laneNumbers(lanes),
        constant(vectorOf(b.getI64Type(), lanes), double(step)));
    return gather(address, element, offsets, mask);
  }
  auto type = vectorOf(memory, lanes);
  unsigned alignment = getAlignment(element, known);
  Value value;
  if (mask)
    value = b.create<LLVM::MaskedLoadOp>(
        loc, type, address, mask, ValueRange(constant(type, 0.0)), alignment);
  else
    value = b.create<LLVM::LoadOp>(loc, type, address, alignment);
  return widen(value, element);
}

Value Code::gather(Value base, Type element, Value offsets, Value mask) {
  int64_t lanes = cast<VectorType>(offsets.getType()).getDimSize(0);
  Type memory = getMemoryType(element);
  auto type = vectorOf(memory, lanes);
  if (!mask)
    mask = constant(vectorOf(b.getI1Type(), lanes), b.getBoolAttr(true));
  uint32_t alignment = getMemoryBytes(element);
  Value value = b.create<LLVM::masked_gather>(
      loc, Type(type), address(base, memory, offsets), mask,
      ValueRange(constant(type, 0.0)), alignment);
  return widen(value, element);
}

Value Code::loadScalar(Value address, Type element) {
  unsigned alignment = getMemoryBytes(element);
  return widen(
      b.create<LLVM::LoadOp>(loc, getMemoryType(element), address, alignment),
      element);
}

void Code::store(Value value, Value address, Type element, int64_t step,
                 Value mask, int64_t known) {
  int64_t lanes = cast<VectorType>(value.getType()).getDimSize(0);
  if (step == 0)
    return storeScalar(extract(value, 0), address, element);
  value = narrow(value, element);
  uint32_t alignment = getMemoryBytes(element);
  if (step == 1 && !mask) {
    b.create<LLVM::StoreOp>(loc, value, address, getAlignment(element, known));
    return;
  }
  if (!mask)
    mask = constant(vectorOf(b.getI1Type(), lanes), b.getBoolAttr(true));
  if (step == 1) {
    b.create<LLVM::MaskedStoreOp>(loc, value, address, mask, alignment);
    return;
  }
  Value offsets = b.create<arith::MulIOp>(
      loc, laneNumbers(lanes),
      constant(vectorOf(b.getI64Type(), lanes), double(step)));
  b.create<LLVM::masked_scatter>(
      loc, value, this->address(address, getMemoryType(element), offsets), mask,
      alignment);
}

void Code::storeScalar(Value value, Value address, Type element) {
  unsigned alignment = getMemoryBytes(element);
  b.create<LLVM::StoreOp>(loc, narrow(value, element), address, alignment);
}

/// `element` with the shape of `like`.
static Type withShapeOf(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value Code::widen(Value value, Type element) {
  Type type = withShapeOf(value.getType(), getComputeType(element));
  if (type == value.getType())
    return value;
  if (isa<FloatType>(element))
    return b.create<arith::ExtFOp>(loc, type, value);
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, value,
                                 constant(value.getType(), 0.0));
}

Value Code::narrow(Value value, Type element) {
  Type type = withShapeOf(value.getType(), getMemoryType(element));
  if (type == value.getType())
    return value;
  if (isa<FloatType>(element))
    return b.create<arith::TruncFOp>(loc, type, value);
  return b.create<arith::ExtUIOp>(loc, type, value);
}
