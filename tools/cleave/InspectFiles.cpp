//===- InspectFiles.cpp - facts about plans and weights files -------------===//

#include "tools/cleave/Inspect.h"
#include "tools/cleave/Manifest.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/TensorFiles.h"
#include "tools/cleave/Verbs.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace cleave;
using llvm::json::Object;
using llvm::json::Value;

//===-- Plans -------------------------------------------------------------===//

/// Members of an object in the order of their names.
static std::map<std::string, const Value *> sorted(const Object *object) {
  std::map<std::string, const Value *> members;
  if (object)
    for (const auto &[name, value] : *object)
      members[name.str()] = &value;
  return members;
}

static void printPlan(const Object &plan) {
  for (const auto &[name, size] : sorted(plan.getObject("axes")))
    llvm::outs() << "axis: " << name << " = " << *size << "\n";
  if (const llvm::json::Array *stages = plan.getArray("stages"))
    for (size_t i = 0; i < stages->size(); ++i) {
      const Object *stage = (*stages)[i].getAsObject();
      const llvm::json::Array *nodes =
          stage ? stage->getArray("nodes") : nullptr;
      const Value *ranks = stage ? stage->get("ranks") : nullptr;
      llvm::outs() << "stage " << i << ": "
                   << formatCount(nodes ? nodes->size() : 0, "node")
                   << " on ranks " << (ranks ? *ranks : Value(nullptr)) << "\n";
    }
  if (const Value *value = plan.get("microbatches"))
    llvm::outs() << "microbatches: " << *value << "\n";
  for (const char *kind : {"inputs", "params", "values"})
    for (const auto &[name, layout] : sorted(plan.getObject(kind)))
      llvm::outs() << llvm::StringRef(kind).drop_back() << ": " << name << " "
                   << layout->getAsString().value_or("?") << "\n";
  for (const auto &[name, value] : sorted(plan.getObject("predictions")))
    llvm::outs() << "predicted: " << name << " = " << *value << "\n";
}

int cleave::inspectPlan(const InspectFlags &flags) {
  std::optional<Object> plan = readJson(flags.path);
  if (!plan)
    return ExitPlan;
  if (!plan->get("stages")) {
    printError("'" + flags.path + "' is no plan: it has no stages");
    return ExitPlan;
  }
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n", Value(std::move(*plan)));
  else
    printPlan(*plan);
  return ExitDone;
}

//===-- Weights -----------------------------------------------------------===//

static int64_t getBytes(const Object &tensor) {
  const llvm::json::Array *offsets = tensor.getArray("data_offsets");
  if (!offsets || offsets->size() != 2)
    return 0;
  return (*offsets)[1].getAsInteger().value_or(0) -
         (*offsets)[0].getAsInteger().value_or(0);
}

int cleave::inspectTensors(const InspectFlags &flags) {
  std::optional<Object> header = readTensorHeader(flags.path);
  if (!header)
    return ExitModel;
  if (flags.json) {
    llvm::outs() << llvm::formatv("{0:2}\n", Value(std::move(*header)));
    return ExitDone;
  }
  int64_t total = 0;
  for (const auto &[name, value] : sorted(&*header)) {
    const Object *tensor = value->getAsObject();
    if (!tensor || name == "__metadata__")
      continue;
    const Value *shape = tensor->get("shape");
    llvm::outs() << llvm::formatv(
        "{0}: {1} {2} {3}\n", name, tensor->getString("dtype").value_or("?"),
        shape ? *shape : Value(nullptr), formatBytes(getBytes(*tensor)));
    total += getBytes(*tensor);
  }
  llvm::outs() << "total: " << formatBytes(total) << "\n";
  return ExitDone;
}
