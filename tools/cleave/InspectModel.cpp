//===- InspectModel.cpp - facts about a model -----------------------------===//

#include "ir/Cleave.h"
#include "tools/cleave/Inspect.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace cleave;
using namespace mlir;

namespace {
struct ModelFacts {
  std::map<std::string, int64_t> ops;
  std::vector<std::pair<std::string, Type>> inputs, outputs;
  int64_t params = 0, paramBytes = 0;
};
} // namespace

static ModelFacts collect(ModuleOp module) {
  ModelFacts facts;
  for (auto param : module.getOps<ParamOp>()) {
    ++facts.params;
    facts.paramBytes += getByteSize(param.getType());
  }
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    facts.inputs.push_back(
        {main.getArgAttrOfType<StringAttr>(i, "cleave.name").str(), type});
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    facts.outputs.push_back(
        {main.getResultAttrOfType<StringAttr>(i, "cleave.name").str(), type});
  main.walk([&](Operation *op) {
    if (isa<CleaveDialect>(op->getDialect()))
      ++facts.ops[op->getName().stripDialect().str()];
  });
  return facts;
}

static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static llvm::json::Value toJson(const ModelFacts &facts) {
  auto tensors = [](ArrayRef<std::pair<std::string, Type>> list) {
    llvm::json::Array array;
    for (const auto &[name, type] : list)
      array.push_back(
          llvm::json::Object{{"name", name}, {"type", toText(type)}});
    return array;
  };
  llvm::json::Object ops;
  for (const auto &[name, count] : facts.ops)
    ops[name] = count;
  return llvm::json::Object{{"inputs", tensors(facts.inputs)},
                            {"outputs", tensors(facts.outputs)},
                            {"params", facts.params},
                            {"paramBytes", facts.paramBytes},
                            {"ops", std::move(ops)}};
}

static void print(const ModelFacts &facts) {
  for (const auto &[name, type] : facts.inputs)
    llvm::outs() << "input: " << name << " " << type << "\n";
  for (const auto &[name, type] : facts.outputs)
    llvm::outs() << "output: " << name << " " << type << "\n";
  llvm::outs() << llvm::formatv("params: {0}, {1}\n", facts.params,
                                formatBytes(facts.paramBytes));
  for (const auto &[name, count] : facts.ops)
    llvm::outs() << "op: " << count << " " << name << "\n";
}

int cleave::inspectModel(const InspectFlags &flags,
                         const ImportOptions &options) {
  MLIRContext context;
  context.printOpOnDiagnostic(false);
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  ErrorPrinter errors(&context);
  FailureOr<OwningOpRef<ModuleOp>> module =
      importModel(context, flags.path, options);
  if (failed(module))
    return ExitModel;
  ModelFacts facts = collect(**module);
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(facts));
  else
    print(facts);
  return ExitDone;
}
