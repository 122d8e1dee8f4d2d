//===- Origin.cpp - which node of the model makes an output ---------------===//

#include "ir/Origin.h"

#include "mlir/IR/Builders.h"

using namespace cleave;
using namespace mlir;

DictionaryAttr cleave::toAttribute(MLIRContext *context, const Origin &origin) {
  Builder b(context);
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("node", b.getStringAttr(origin.node)),
      b.getNamedAttr("op", b.getStringAttr(origin.op)),
      b.getNamedAttr("position", b.getI64IntegerAttr(origin.position))};
  if (origin.isKept)
    fields.push_back(b.getNamedAttr("kept", b.getUnitAttr()));
  return b.getDictionaryAttr(fields);
}

std::optional<Origin> cleave::readOrigin(DictionaryAttr attribute) {
  if (!attribute)
    return std::nullopt;
  Origin origin;
  if (auto node = attribute.getAs<StringAttr>("node"))
    origin.node = node.str();
  if (auto op = attribute.getAs<StringAttr>("op"))
    origin.op = op.str();
  if (auto position = attribute.getAs<IntegerAttr>("position"))
    origin.position = position.getInt();
  origin.isKept = attribute.contains("kept");
  return origin;
}
