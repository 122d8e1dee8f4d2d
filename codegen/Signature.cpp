//===- Signature.cpp - the user's view of a model -------------------------===//
//
// Partition leaves local, padded types; the manifest needs the whole ones. They
// travel as module attributes.
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "ir/Origin.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace cleave;
using namespace mlir;

static FailureOr<Attribute> describe(func::FuncOp function, StringAttr name,
                                     Type type, const char *what,
                                     unsigned number,
                                     DictionaryAttr origin = {}) {
  Builder b(function.getContext());
  if (!name)
    return function.emitError()
           << what << " " << number << " of '" << function.getSymName()
           << "' has no name; expected `cleave.name`";
  SmallVector<NamedAttribute> fields = {
      b.getNamedAttr("name", name),
      b.getNamedAttr("type", TypeAttr::get(type))};
  if (origin)
    fields.push_back(b.getNamedAttr("origin", origin));
  return b.getDictionaryAttr(fields);
}

LogicalResult cleave::recordSignature(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main)
    return module.emitError() << "module has no function 'main'";
  SmallVector<Attribute> inputs, outputs;
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto name = main.getArgAttrOfType<StringAttr>(i, "cleave.name");
    FailureOr<Attribute> entry = describe(main, name, type, "argument", i);
    if (failed(entry))
      return failure();
    inputs.push_back(*entry);
  }
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    auto name = main.getResultAttrOfType<StringAttr>(i, "cleave.name");
    auto origin = main.getResultAttrOfType<DictionaryAttr>(i, OriginAttrName);
    FailureOr<Attribute> entry =
        describe(main, name, type, "result", i, origin);
    if (failed(entry))
      return failure();
    outputs.push_back(*entry);
  }
  Builder b(module.getContext());
  module->setAttr("cleave.inputs", b.getArrayAttr(inputs));
  module->setAttr("cleave.outputs", b.getArrayAttr(outputs));
  return success();
}

bool cleave::isRankModule(ModuleOp module) {
  return llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return function->hasAttr("cleave.arena_bytes");
  });
}
