//===- TensorBuilder.cpp - builds cleave ops, and folds shape arithmetic --===//

#include "frontend/TensorBuilder.h"

#include "frontend/Tensors.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Shapes ------------------------------------------------------------===//

DenseElementsAttr cleave::getConstant(Value value) {
  DenseElementsAttr elements;
  if (value && matchPattern(value, m_Constant(&elements)))
    return elements;
  return nullptr;
}

std::string cleave::formatShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (int64_t size : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

Shape cleave::getIota(int64_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, count));
}

int64_t cleave::getProduct(ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(product, size, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

FailureOr<Shape> cleave::getCommonShape(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  Shape common(rank, 1);
  for (ArrayRef<int64_t> shape : shapes)
    for (auto [size, result] :
         llvm::zip(llvm::reverse(shape), llvm::reverse(common))) {
      if (size != 1 && result != 1 && size != result)
        return failure();
      if (result == 1)
        result = size;
    }
  return common;
}

//===-- Creating ----------------------------------------------------------===//

/// Whether the op is worth folding: shape arithmetic, small tables, splats.
/// Unsigned integers are left alone: constants do not know their sign.
static bool shouldFold(Operation *op) {
  auto isUnsigned = [](Type type) {
    return getElementTypeOrSelf(type).isUnsignedInteger();
  };
  if (llvm::any_of(op->getOperandTypes(), isUnsigned) ||
      llvm::any_of(op->getResultTypes(), isUnsigned))
    return false;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return isa<IntegerType>(type.getElementType()) ||
         type.getNumElements() <= MaxConstantElements ||
         llvm::all_of(op->getOperands(), [](Value operand) {
           DenseElementsAttr elements = getConstant(operand);
           return elements && elements.isSplat();
         });
}

static LogicalResult inferTypes(OperationState &state, MLIRContext *context) {
  auto info = state.name.getRegisteredInfo();
  auto *interface = info->getInterface<InferTypeOpInterface>();
  if (!interface || (!state.types.empty() && state.types.front()))
    return success();
  SmallVector<Type> types;
  if (failed(interface->inferReturnTypes(
          context, state.location, state.operands,
          state.attributes.getDictionary(context), state.getRawProperties(),
          state.regions, types)))
    return failure();
  state.types.assign(types);
  return success();
}

/// Of a tensor without elements the other sizes count, too: strides are made of
/// them.
static bool fitsMemory(RankedTensorType type) {
  constexpr int64_t MostBytes = int64_t(1) << 47;
  int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) &&
        (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes) ||
         bytes > MostBytes))
      return false;
  return true;
}

LogicalResult cleave::verifyFitsMemory(Location loc, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || fitsMemory(tensor))
    return success();
  return mlir::emitError(loc)
         << "a tensor of type " << type << " is larger than any memory";
}

Value TensorBuilder::finish(OperationState &state) {
  if (llvm::is_contained(state.operands, Value()) ||
      failed(inferTypes(state, getContext())))
    return nullptr;
  for (Type type : state.types)
    if (failed(verifyFitsMemory(loc, type)))
      return nullptr;
  Operation *op = builder.create(state);
  if (failed(op->getName().verifyInvariants(op))) {
    op->erase();
    return nullptr;
  }
  SmallVector<Value, 1> folded;
  // No result: the op was changed in place.
  if (!shouldFold(op) || failed(builder.tryFold(op, folded)) || folded.empty())
    return op->getResult(0);
  op->erase();
  return folded.front();
}

Value TensorBuilder::constant(DenseElementsAttr elements) {
  return builder.create<ConstantOp>(loc, elements);
}

Value TensorBuilder::constant(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(static_cast<int64_t>(values.size()),
                                    builder.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value TensorBuilder::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, value);
  else
    attr = IntegerAttr::get(element, APInt(element.getIntOrFloatBitWidth(),
                                           static_cast<int64_t>(value), true));
  return constant(DenseElementsAttr::get(type, attr));
}

Value TensorBuilder::splat(Value like, double value) {
  return like ? splat(getTensorType(like), value) : nullptr;
}

//===-- Elementwise -------------------------------------------------------===//

LogicalResult TensorBuilder::unify(Value &x, Value &y) {
  if (!x || !y)
    return failure();
  FailureOr<Shape> common = getCommonShape({getShape(x), getShape(y)});
  if (failed(common))
    return emitError() << "shapes " << formatShape(getShape(x)) << " and "
                       << formatShape(getShape(y)) << " do not broadcast";
  x = broadcast(x, *common);
  y = broadcast(y, *common);
  return success(x && y);
}

Value TensorBuilder::unary(UnaryKind kind, Value x) {
  return create<UnaryOp>(nullptr, kind, x);
}

Value TensorBuilder::binary(BinaryKind kind, Value x, Value y) {
  if (failed(unify(x, y)))
    return nullptr;
  if (x.getType() == y.getType())
    return create<BinaryOp>(nullptr, kind, x, y);
  emitError() << "operands have types " << getElement(x) << " and "
              << getElement(y) << ", expected one type";
  return nullptr;
}

Value TensorBuilder::binary(BinaryKind kind, Value x, double y) {
  return binary(kind, x, splat(x, y));
}

Value TensorBuilder::compare(CompareKind kind, Value x, Value y) {
  if (failed(unify(x, y)))
    return nullptr;
  if (x.getType() == y.getType())
    return create<CompareOp>(nullptr, kind, x, y);
  emitError() << "operands have types " << getElement(x) << " and "
              << getElement(y) << ", expected one type";
  return nullptr;
}

Value TensorBuilder::compare(CompareKind kind, Value x, double y) {
  return compare(kind, x, splat(x, y));
}

Value TensorBuilder::select(Value condition, Value x, Value y) {
  if (!condition || failed(unify(x, y)) || failed(unify(condition, x)))
    return nullptr;
  y = broadcast(y, getShape(x));
  return create<SelectOp>(nullptr, condition, x, y);
}

Value TensorBuilder::cast(Value x, Type element) {
  if (!x || getElement(x) == element)
    return x;
  return create<CastOp>(RankedTensorType::get(getShape(x), element), x);
}

//===-- Movement ----------------------------------------------------------===//

Value TensorBuilder::reshape(Value x, ArrayRef<int64_t> shape) {
  if (!x || getShape(x) == shape)
    return x;
  return create<ReshapeOp>(RankedTensorType::get(shape, getElement(x)), x);
}

Value TensorBuilder::transpose(Value x, ArrayRef<int64_t> perm) {
  if (!x || llvm::equal(perm, getIota(perm.size())))
    return x;
  return create<TransposeOp>(nullptr, x, perm);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> shape) {
  if (!x)
    return nullptr;
  Shape dims;
  for (int64_t dim : getIota(getTensorType(x).getRank()))
    dims.push_back(shape.size() - getTensorType(x).getRank() + dim);
  return broadcast(x, shape, dims);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> shape,
                               ArrayRef<int64_t> dims) {
  if (!x || getShape(x) == shape)
    return x;
  return create<BroadcastOp>(RankedTensorType::get(shape, getElement(x)), x,
                             dims);
}

Value TensorBuilder::slice(Value x, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (!x || (getShape(x) == sizes &&
             llvm::all_of(starts, [](int64_t start) { return start == 0; })))
    return x;
  return create<SliceOp>(nullptr, x, starts, sizes, strides);
}

Value TensorBuilder::sliceDim(Value x, int64_t dim, int64_t start,
                              int64_t size) {
  if (!x)
    return nullptr;
  Shape sizes(getShape(x)), starts(sizes.size(), 0), strides(sizes.size(), 1);
  starts[dim] = start;
  sizes[dim] = size;
  return slice(x, starts, sizes, strides);
}

Value TensorBuilder::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                         double value) {
  auto isZero = [](int64_t count) { return count == 0; };
  if (!x || (llvm::all_of(low, isZero) && llvm::all_of(high, isZero)))
    return x;
  return create<PadOp>(nullptr, x, low, high, APFloat(value));
}

Value TensorBuilder::concat(ValueRange values, int64_t dim) {
  return create<ConcatOp>(nullptr, values, dim);
}

Value TensorBuilder::gather(Value x, Value indices, int64_t dim,
                            int64_t batchDims) {
  return create<GatherOp>(nullptr, x, indices, dim, batchDims);
}

Value TensorBuilder::iota(RankedTensorType type, int64_t dim) {
  return create<IotaOp>(type, dim);
}

//===-- Reductions and products -------------------------------------------===//

Value TensorBuilder::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims,
                            bool keepDims) {
  if (!x || dims.empty())
    return x;
  Value result = create<ReduceOp>(nullptr, kind, x, dims);
  if (!keepDims)
    return result;
  Shape shape(getShape(x));
  for (int64_t dim : dims)
    shape[dim] = 1;
  return reshape(result, shape);
}

Value TensorBuilder::mean(Value x, ArrayRef<int64_t> dims, bool keepDims) {
  Value sum = reduce(ReduceKind::Sum, x, dims, keepDims);
  if (!sum)
    return nullptr;
  double count = 1;
  for (int64_t dim : dims)
    count *= getShape(x)[dim];
  return isFloat(x) ? binary(BinaryKind::Mul, sum, 1 / count)
                    : binary(BinaryKind::Div, sum, count);
}

Value TensorBuilder::dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                         ArrayRef<int64_t> rhsBatch,
                         ArrayRef<int64_t> lhsContract,
                         ArrayRef<int64_t> rhsContract) {
  return create<DotOp>(nullptr, lhs, rhs, lhsBatch, rhsBatch, lhsContract,
                       rhsContract);
}

Value TensorBuilder::softmax(Value x, int64_t dim, bool log) {
  return create<SoftmaxOp>(nullptr, x, dim, log);
}
