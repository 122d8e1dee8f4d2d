//===- LocalBuilder.cpp - builds ops of a rank program --------------------===//

#include "passes/partition/LocalBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

Value LocalBuilder::getAxisIndex(ArrayRef<StringAttr> axes) {
  SmallVector<Attribute> list(axes.begin(), axes.end());
  ArrayAttr key = builder.getArrayAttr(list);
  for (auto [known, value] : indices)
    if (known == key)
      return value;
  OpBuilder::InsertionGuard guard(builder);
  if (lastIndex)
    builder.setInsertionPointAfter(lastIndex);
  else
    builder.setInsertionPointToStart(block);
  auto type = RankedTensorType::get({}, builder.getI64Type());
  lastIndex = builder.create<AxisIndexOp>(block->getParentOp()->getLoc(), type,
                                          meshName, key);
  indices.push_back({key, lastIndex->getResult(0)});
  return lastIndex->getResult(0);
}

Value LocalBuilder::getMasked(Location loc, Value x, int64_t dim, int64_t size,
                              double fill, ArrayRef<StringAttr> axes) {
  Value index = getAxisIndex(axes);
  for (MaskOp mask : masks[x])
    if (mask.getIndex() == index &&
        static_cast<int64_t>(mask.getDim()) == dim &&
        mask.getFill() == APFloat(fill))
      return mask.getResult();
  auto mask = builder.create<MaskOp>(
      loc, x.getType(), x, index, builder.getI64IntegerAttr(dim),
      builder.getI64IntegerAttr(size), builder.getF64FloatAttr(fill));
  masks[x].push_back(mask);
  return mask.getResult();
}

Value LocalBuilder::resizeEnd(Location loc, Value x, int64_t dim, int64_t size,
                              double value) {
  auto type = cast<RankedTensorType>(x.getType());
  int64_t current = type.getDimSize(dim);
  SmallVector<int64_t> low(type.getRank(), 0);
  if (size > current) {
    SmallVector<int64_t> high(type.getRank(), 0);
    high[dim] = size - current;
    return builder.create<PadOp>(loc, x, low, high, APFloat(value));
  }
  if (size == current)
    return x;
  SmallVector<int64_t> sizes(type.getShape()), ones(type.getRank(), 1);
  sizes[dim] = size;
  return builder.create<SliceOp>(loc, x, low, sizes, ones);
}

double cleave::getNeutralValue(ReduceKind kind, Type elementType) {
  TypedAttr element = getNeutralElement(kind, elementType);
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValueAsDouble();
  APInt integer = cast<IntegerAttr>(element).getValue();
  return elementType.isInteger(1) ? integer.getZExtValue()
                                  : integer.signedRoundToDouble();
}
