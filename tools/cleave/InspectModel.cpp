//===- InspectModel.cpp - facts about a model -----------------------------===//
//
// What the file says, and, where all dims are bound, that it can be imported
// and which shapes its inputs and outputs have.
//
//===----------------------------------------------------------------------===//

#include "frontend/ModelFacts.h"
#include "ir/Cleave.h"
#include "tools/cleave/Inspect.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace cleave;
using namespace mlir;

static ModelFacts::Tensor describe(StringAttr name, Type type) {
  auto ranked = cast<RankedTensorType>(type);
  ModelFacts::Tensor tensor;
  tensor.name = name.str();
  llvm::raw_string_ostream(tensor.type) << ranked.getElementType();
  for (int64_t size : ranked.getShape())
    tensor.dims.push_back(std::to_string(size));
  return tensor;
}

/// Inputs and outputs as the import has found them.
static void setShapes(ModelFacts &facts, ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  facts.inputs.clear();
  facts.outputs.clear();
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes()))
    facts.inputs.push_back(
        describe(main.getArgAttrOfType<StringAttr>(i, NameAttrName), type));
  for (auto [i, type] : llvm::enumerate(main.getResultTypes()))
    facts.outputs.push_back(
        describe(main.getResultAttrOfType<StringAttr>(i, NameAttrName), type));
}

//===-- Print -------------------------------------------------------------===//

static llvm::json::Value toJson(const std::vector<ModelFacts::Tensor> &list) {
  llvm::json::Array tensors;
  for (const ModelFacts::Tensor &tensor : list) {
    llvm::json::Object entry{{"name", tensor.name}, {"type", tensor.type}};
    if (tensor.hasShape)
      entry["dims"] = llvm::json::Array(tensor.dims);
    tensors.push_back(std::move(entry));
  }
  return tensors;
}

static llvm::json::Object toJson(const std::map<std::string, int64_t> &counts) {
  llvm::json::Object object;
  for (const auto &[name, count] : counts)
    object[name] = count;
  return object;
}

static llvm::json::Value toJson(const ModelFacts &facts) {
  llvm::json::Array configurations;
  for (const ModelFacts::Configuration &one : facts.configurations)
    configurations.push_back(llvm::json::Object{{"name", one.name},
                                                {"devices", one.devices},
                                                {"nodes", one.nodes},
                                                {"stages", one.stages}});
  return llvm::json::Object{{"irVersion", facts.irVersion},
                            {"opsets", toJson(facts.opsets)},
                            {"inputs", toJson(facts.inputs)},
                            {"outputs", toJson(facts.outputs)},
                            {"initializers", facts.initializers},
                            {"initializerBytes", facts.initializerBytes},
                            {"ops", toJson(facts.operators)},
                            {"configurations", std::move(configurations)}};
}

static void print(const char *kind, const ModelFacts::Tensor &tensor) {
  llvm::outs() << kind << ": " << tensor.name << " " << tensor.type;
  if (tensor.hasShape)
    llvm::outs() << " [" << llvm::join(tensor.dims, ", ") << "]";
  llvm::outs() << "\n";
}

static void print(const ModelFacts &facts) {
  llvm::outs() << "ir: " << facts.irVersion << "\n";
  for (const auto &[domain, version] : facts.opsets)
    llvm::outs() << "opset: " << version << (domain.empty() ? "" : " of ")
                 << domain << "\n";
  for (const ModelFacts::Tensor &input : facts.inputs)
    print("input", input);
  for (const ModelFacts::Tensor &output : facts.outputs)
    print("output", output);
  llvm::outs() << llvm::formatv("initializers: {0}, {1}\n", facts.initializers,
                                formatBytes(facts.initializerBytes));
  for (const auto &[name, count] : facts.operators)
    llvm::outs() << "op: " << count << " " << name << "\n";
  for (const ModelFacts::Configuration &one : facts.configurations) {
    llvm::outs() << "configuration: " << one.name << ", "
                 << formatCount(one.devices, "device") << ", "
                 << formatCount(one.nodes, "node");
    if (one.stages > 0)
      llvm::outs() << " in " << formatCount(one.stages, "stage");
    llvm::outs() << "\n";
  }
}

int cleave::inspectModel(const InspectFlags &flags,
                         const ImportOptions &options) {
  MLIRContext context;
  context.printOpOnDiagnostic(false);
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  ErrorPrinter errors(&context);
  FailureOr<ModelFacts> facts = readModelFacts(&context, flags.path);
  if (failed(facts))
    return ExitModel;
  bool isBound = !options.bindings.empty() || !options.shapes.empty() ||
                 !options.values.empty();
  if (isBound || !facts->isOpen()) {
    FailureOr<OwningOpRef<ModuleOp>> module =
        importModel(context, flags.path, options);
    if (failed(module))
      return ExitModel;
    setShapes(*facts, **module);
  }
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", toJson(*facts));
  else
    print(*facts);
  return ExitDone;
}
