//===- Settings.cpp - scalar states that a run sets before each step ------===//

#include "passes/train/Settings.h"

#include "passes/train/Passes.h"

#include "ir/Cleave.h"

using namespace cleave;
using namespace mlir;

FlatSymbolRefAttr Settings::get(StringRef kind, double base, double value) {
  std::string name = ("cleave." + kind).str();
  if (base != 0)
    name += "." + std::to_string(base);
  FlatSymbolRefAttr &symbol = known[name];
  if (symbol)
    return symbol;
  if (auto found = module.lookupSymbol<ParamOp>(name))
    return symbol = FlatSymbolRefAttr::get(found);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = RankedTensorType::get({}, builder.getF32Type());
  auto param = builder.create<ParamOp>(
      module.getLoc(), builder.getStringAttr(name), TypeAttr::get(type),
      DenseElementsAttr::get(type, static_cast<float>(value)),
      DenseI64ArrayAttr(), ShardingAttr(), builder.getUnitAttr());
  param->setAttr(RoleAttrName, builder.getStringAttr("setting"));
  param->setAttr(
      SettingAttrName,
      builder.getDictionaryAttr(
          {builder.getNamedAttr("kind", builder.getStringAttr(kind)),
           builder.getNamedAttr("base", builder.getF64FloatAttr(base))}));
  return symbol = FlatSymbolRefAttr::get(param);
}

Value Settings::load(LogicalBuilder &b, StringRef kind, double base,
                     double value) {
  auto type = RankedTensorType::get({}, b.b.getF32Type());
  return b.b.create<LoadOp>(b.loc, type, get(kind, base, value));
}
