//===- Movement.cpp - types, checks and folds -----------------------------===//

#include "ir/Movement.h"
#include "ir/StridedView.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace cleave;
using namespace mlir;

#define GET_OP_CLASSES
#include "ir/Movement.cpp.inc"

/// Elements beyond which a moved constant is left to run time.
static constexpr int64_t foldLimit = 1 << 16;

static int64_t toSize(ArrayRef<int64_t> list) { return list.size(); }

/// Folds an op whose result element at `index` is operand element
/// `offset + sum index[d] * strides[d]`.
static OpFoldResult foldStrided(Attribute operand, RankedTensorType type,
                                ArrayRef<int64_t> strides, int64_t offset) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
  if (!dense)
    return {};
  if (dense.isSplat())
    return dense.resizeSplat(type);
  int64_t count = type.getNumElements();
  if (count > foldLimit)
    return {};
  auto source = dense.value_begin<Attribute>();
  SmallVector<Attribute> values;
  SmallVector<int64_t> denseStrides = getDenseStrides(type.getShape());
  for (int64_t i = 0; i < count; ++i) {
    int64_t from = offset;
    for (auto [d, size] : llvm::enumerate(type.getShape()))
      from += i / denseStrides[d] % size * strides[d];
    values.push_back(*(source + from));
  }
  return DenseElementsAttr::get(type, values);
}

//===-- Reshape -----------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getX().getType().getElementType() != getType().getElementType() ||
      getX().getType().getNumElements() != getType().getNumElements())
    return emitOpError() << "keeps element type and count, found "
                         << getX().getType() << " and " << getType();
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto source = getX().getDefiningOp<ReshapeOp>()) {
    setOperand(source.getX());
    return getResult();
  }
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()))
    return dense.reshape(getType());
  return {};
}

//===-- Transpose ---------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  SmallVector<int64_t> sorted(adaptor.getPerm());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())))
    return emitOptionalError(loc, "perm must be a permutation of the dims of ",
                             type);
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPerm())
    shape.push_back(type.getDimSize(dim));
  types.push_back(type.clone(shape));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> perm = getPerm();
  if (llvm::is_sorted(perm))
    return getX();
  if (auto source = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : perm)
      composed.push_back(source.getPerm()[dim]);
    setPerm(composed);
    setOperand(source.getX());
    return getResult();
  }
  SmallVector<int64_t> source = getDenseStrides(getX().getType().getShape()),
                       strides;
  for (int64_t dim : perm)
    strides.push_back(source[dim]);
  return foldStrided(adaptor.getX(), getType(), strides, 0);
}

//===-- Broadcast ---------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getX().getType(), to = getType();
  if (toSize(getDims()) != from.getRank() ||
      from.getElementType() != to.getElementType())
    return emitOpError()
           << "needs one entry of dims per operand dim and one element type, "
           << "found " << from << " and " << to;
  int64_t last = -1;
  for (auto [i, dim] : llvm::enumerate(getDims())) {
    if (dim <= last || dim >= to.getRank())
      return emitOpError() << "dims must increase and be in range of " << to;
    last = dim;
    if (from.getDimSize(i) != 1 && from.getDimSize(i) != to.getDimSize(dim))
      return emitOpError() << "cannot repeat dim " << i << " of " << from
                           << " to dim " << dim << " of " << to;
  }
  return success();
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  SmallVector<int64_t> source = getDenseStrides(getX().getType().getShape());
  SmallVector<int64_t> strides(getType().getRank(), 0);
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (getX().getType().getDimSize(i) != 1)
      strides[dim] = source[i];
  auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  // Only small tables: a repeated constant is cheaper as a view.
  if (!dense || (!dense.isSplat() && getType().getNumElements() > 1024))
    return {};
  return foldStrided(dense, getType(), strides, 0);
}

//===-- Slice, pad --------------------------------------------------------===//

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  if (toSize(adaptor.getStarts()) != type.getRank() ||
      toSize(adaptor.getSizes()) != type.getRank() ||
      toSize(adaptor.getStrides()) != type.getRank())
    return emitOptionalError(
        loc, "needs one start, size and stride per dim of ", type);
  for (auto [start, size, stride, whole] :
       llvm::zip(adaptor.getStarts(), adaptor.getSizes(), adaptor.getStrides(),
                 type.getShape()))
    if (start < 0 || size < 0 || stride < 1 ||
        (size && start + (size - 1) * stride >= whole))
      return emitOptionalError(loc, "takes ", size, " elements from ", start,
                               " by ", stride, " of a dim of size ", whole);
  types.push_back(type.clone(adaptor.getSizes()));
  return success();
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  SmallVector<int64_t> strides = getDenseStrides(getX().getType().getShape());
  int64_t offset = 0;
  for (auto [stride, start, step] :
       llvm::zip(strides, getStarts(), getStrides())) {
    offset += start * stride;
    stride *= step;
  }
  return foldStrided(adaptor.getX(), getType(), strides, offset);
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> loc,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getX().getType());
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  auto isNegative = [](int64_t count) { return count < 0; };
  if (toSize(low) != type.getRank() || toSize(high) != type.getRank() ||
      llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    return emitOptionalError(loc, "needs one low and high per dim of ", type,
                             ", not negative");
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, l, h] : llvm::zip(shape, low, high))
    size += l + h;
  types.push_back(type.clone(shape));
  return success();
}

//===-- Concat, iota, resize ----------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitOptionalError(loc, "needs at least one operand");
  auto first = cast<RankedTensorType>(adaptor.getInputs()[0].getType());
  int64_t dim = adaptor.getDim(), total = 0;
  if (dim < 0 || dim >= first.getRank())
    return emitOptionalError(loc, "dim ", dim, " is out of range of ", first);
  for (Value input : adaptor.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (type.getRank() == first.getRank())
      shape[dim] = first.getDimSize(dim);
    if (first.clone(shape) != first ||
        type.getElementType() != first.getElementType())
      return emitOptionalError(loc, "cannot join ", type, " to ", first,
                               " along dim ", dim);
    total += type.getDimSize(dim);
  }
  SmallVector<int64_t> shape(first.getShape());
  shape[dim] = total;
  types.push_back(first.clone(shape));
  return success();
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return getInputs()[0];
  if (getType().getNumElements() > foldLimit)
    return {};
  int64_t inner = 1, outer = 1;
  for (auto [d, size] : llvm::enumerate(getType().getShape()))
    (static_cast<int64_t>(d) < static_cast<int64_t>(getDim()) ? outer
                                                              : inner) *= size;
  SmallVector<Attribute> values(outer * inner);
  int64_t start = 0;
  for (auto [attr, input] : llvm::zip(adaptor.getInputs(), getInputs())) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
    if (!dense)
      return {};
    int64_t width = outer ? dense.getNumElements() / outer : 0;
    for (auto [i, value] : llvm::enumerate(dense.getValues<Attribute>()))
      values[i / width * inner + start + i % width] = value;
    start += width;
  }
  return DenseElementsAttr::get(getType(), values);
}

LogicalResult IotaOp::verify() {
  if (static_cast<int64_t>(getDim()) < 0 ||
      static_cast<int64_t>(getDim()) >= getType().getRank())
    return emitOpError() << "dim " << static_cast<int64_t>(getDim())
                         << " is out of range of " << getType();
  if (getType().getElementType().isInteger(1))
    return emitOpError() << "cannot count in bools";
  return success();
}

LogicalResult ResizeOp::verify() {
  if (getX().getType().getRank() != getType().getRank() ||
      toSize(getType().getShape()) !=
          static_cast<int64_t>(getScales().size()) ||
      getX().getType().getElementType() != getType().getElementType())
    return emitOpError()
           << "needs one scale per dim and keeps rank and element type, found "
           << getX().getType() << " and " << getType();
  if (getKind() != ResizeKind::Nearest &&
      !isa<FloatType>(getType().getElementType()))
    return emitOpError() << "kind " << stringifyResizeKind(getKind())
                         << " interpolates floats, found " << getType();
  for (double scale : getScales())
    if (!(scale > 0) || std::isinf(scale))
      return emitOpError() << "scales must be positive, found " << scale;
  static const StringRef coordinates[] = {"half_pixel", "pytorch_half_pixel",
                                          "align_corners", "asymmetric"};
  static const StringRef nearest[] = {"round_prefer_floor", "round_prefer_ceil",
                                      "floor", "ceil"};
  if (!llvm::is_contained(coordinates, getCoordinates()))
    return emitOpError() << "has no coordinates \"" << getCoordinates() << "\"";
  if (!llvm::is_contained(nearest, getNearestMode()))
    return emitOpError() << "has no nearest_mode \"" << getNearestMode()
                         << "\"";
  return success();
}
