//===- ElementwiseFold.cpp - folds elementwise ops on small constants -----===//
//
// Shape arithmetic of exported models is integer constants; small float tables
// are folded too. Splats fold at any size, other constants up to a bound.
//
//===----------------------------------------------------------------------===//

#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"

#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

/// Elements beyond which a constant is left to run time.
static constexpr int64_t foldLimit = 1 << 16;

static DenseElementsAttr getFoldable(Attribute attr) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  // Folding knows signed integers only.
  if (!dense || dense.getElementType().isUnsignedInteger() ||
      (!dense.isSplat() && dense.getNumElements() > foldLimit))
    return nullptr;
  return dense;
}

/// One element of `type`; a float that an integer cannot hold saturates.
static Attribute makeElement(Type type, double value) {
  APFloat result(value);
  bool exact;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    result.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &exact);
    return FloatAttr::get(floatType, result);
  }
  APSInt integer(type.getIntOrFloatBitWidth(), false);
  result.convertToInteger(integer, APFloat::rmTowardZero, &exact);
  return IntegerAttr::get(type, integer);
}
static Attribute makeElement(Type type, int64_t value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat result(floatType.getFloatSemantics());
    result.convertFromAPInt(APInt(64, value, true), true,
                            APFloat::rmNearestTiesToEven);
    return FloatAttr::get(floatType, result);
  }
  return IntegerAttr::get(type,
                          APInt(type.getIntOrFloatBitWidth(), value, true));
}
static double toDouble(Attribute element) {
  if (auto value = dyn_cast<FloatAttr>(element)) {
    APFloat wide = value.getValue();
    bool lost;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return wide.convertToDouble();
  }
  APInt integer = cast<IntegerAttr>(element).getValue();
  return integer.getBitWidth() == 1
             ? integer.getZExtValue()
             : static_cast<double>(integer.getSExtValue());
}
static int64_t toInt(Attribute element) {
  APInt integer = cast<IntegerAttr>(element).getValue();
  return integer.getBitWidth() == 1 ? integer.getZExtValue()
                                    : integer.getSExtValue();
}

/// Applies `compute` to the elements of `inputs`, keeping splats.
static OpFoldResult
foldEach(ArrayRef<DenseElementsAttr> inputs, Type resultType,
         llvm::function_ref<Attribute(ArrayRef<Attribute>)> compute) {
  auto type = cast<RankedTensorType>(resultType);
  bool splat =
      llvm::all_of(inputs, [](DenseElementsAttr a) { return a.isSplat(); });
  if (splat && type.getNumElements() != 0) {
    SmallVector<Attribute> elements;
    for (DenseElementsAttr input : inputs)
      elements.push_back(input.getSplatValue<Attribute>());
    return DenseElementsAttr::get(type, compute(elements));
  }
  if (type.getNumElements() > foldLimit)
    return {};
  SmallVector<Attribute> values;
  SmallVector<decltype(inputs[0].value_begin<Attribute>())> iterators;
  for (DenseElementsAttr input : inputs)
    iterators.push_back(input.value_begin<Attribute>());
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    SmallVector<Attribute> elements;
    for (auto &iterator : iterators)
      elements.push_back(*iterator++);
    values.push_back(compute(elements));
  }
  return DenseElementsAttr::get(type, values);
}

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  DenseElementsAttr x = getFoldable(adaptor.getX());
  if (!x)
    return {};
  Type element = getType().getElementType();
  const UnaryInfo &info = getInfo(getKind());
  return foldEach({x}, getType(), [&](ArrayRef<Attribute> v) {
    return isa<FloatType>(element)
               ? makeElement(element, info.evaluate(toDouble(v[0])))
               : makeElement(element, info.evaluateInt(toInt(v[0])));
  });
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  DenseElementsAttr a = getFoldable(adaptor.getLhs());
  DenseElementsAttr b = getFoldable(adaptor.getRhs());
  if (!a || !b)
    return {};
  Type element = getType().getElementType();
  const BinaryInfo &info = getInfo(getKind());
  if (isa<FloatType>(element)) {
    if (!info.evaluate)
      return {};
    return foldEach({a, b}, getType(), [&](ArrayRef<Attribute> v) {
      return makeElement(element,
                         info.evaluate(toDouble(v[0]), toDouble(v[1])));
    });
  }
  bool divides = getKind() == BinaryKind::Div || getKind() == BinaryKind::Mod;
  if (!info.evaluateInt ||
      (divides && llvm::any_of(b.getValues<APInt>(),
                               [](const APInt &v) { return v.isZero(); })))
    return {};
  return foldEach({a, b}, getType(), [&](ArrayRef<Attribute> v) {
    return makeElement(element, info.evaluateInt(toInt(v[0]), toInt(v[1])));
  });
}

OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  DenseElementsAttr a = getFoldable(adaptor.getLhs());
  DenseElementsAttr b = getFoldable(adaptor.getRhs());
  if (!a || !b)
    return {};
  bool isFloat = isa<FloatType>(a.getElementType());
  auto compare = [&](auto x, auto y) {
    switch (getKind()) {
    case CompareKind::Eq:
      return x == y;
    case CompareKind::Ne:
      return x != y;
    case CompareKind::Lt:
      return x < y;
    case CompareKind::Le:
      return x <= y;
    case CompareKind::Gt:
      return x > y;
    case CompareKind::Ge:
      return x >= y;
    }
    llvm_unreachable("unknown kind");
  };
  return foldEach({a, b}, getType(), [&](ArrayRef<Attribute> v) -> Attribute {
    bool value = isFloat ? compare(toDouble(v[0]), toDouble(v[1]))
                         : compare(toInt(v[0]), toInt(v[1]));
    return BoolAttr::get(getContext(), value);
  });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  DenseElementsAttr condition = getFoldable(adaptor.getCondition());
  if (condition && condition.isSplat() && condition.getNumElements() != 0)
    return condition.getSplatValue<bool>() ? getOnTrue() : getOnFalse();
  DenseElementsAttr a = getFoldable(adaptor.getOnTrue());
  DenseElementsAttr b = getFoldable(adaptor.getOnFalse());
  if (!condition || !a || !b)
    return {};
  return foldEach({condition, a, b}, getType(), [](ArrayRef<Attribute> v) {
    return toInt(v[0]) ? v[1] : v[2];
  });
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  DenseElementsAttr x = getFoldable(adaptor.getX());
  if (!x)
    return {};
  Type from = x.getElementType(), to = getType().getElementType();
  return foldEach({x}, getType(), [&](ArrayRef<Attribute> v) -> Attribute {
    bool isInteger = isa<IntegerType>(from);
    if (to.isInteger(1))
      return BoolAttr::get(getContext(),
                           isInteger ? toInt(v[0]) != 0 : toDouble(v[0]) != 0);
    return isInteger ? makeElement(to, toInt(v[0]))
                     : makeElement(to, toDouble(v[0]));
  });
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }
