//===- Import.cpp - from an ONNX file to a logical program ----------------===//

#include "frontend/Import.h"

#include "frontend/Annotations.h"
#include "frontend/BindDims.h"
#include "frontend/BindValues.h"
#include "frontend/GraphImporter.h"
#include "frontend/Load.h"
#include "frontend/NodeImporter.h"
#include "frontend/TensorBuilder.h"
#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace cleave;
using namespace mlir;

/// What no builder has looked at: initializers, and arguments of bodies.
static LogicalResult verifySizes(ModuleOp module) {
  auto verifyValue = [](Value value) {
    return verifyFitsMemory(value.getLoc(), value.getType());
  };
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          if (failed(verifyValue(argument)))
            return WalkResult::interrupt();
    for (Value value : op->getResults())
      if (failed(verifyValue(value)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<OwningOpRef<ModuleOp>>
cleave::importModel(MLIRContext &context, StringRef path,
                    const ImportOptions &options) {
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  OperatorTable table;
  LoadedModel model;
  DimSizes sizes;
  if (failed(loadModel(&context, path, model)))
    return failure();
  if (options.keepsTensors || hasAnnotations(model))
    makeNodeNamesUnique(*model.proto.mutable_graph());
  if (failed(verifySupported(&context, model, table)) ||
      failed(bindValues(&context, options, model)) ||
      failed(bindDims(&context, options, model, sizes)) ||
      failed(checkModel(&context, model)))
    return failure();
  if (!options.configuration.empty() && model.proto.configuration().empty())
    return emitError(getFileLoc(&context, model.path))
           << "--configuration " << options.configuration
           << ": the model has no annotations";
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(getFileLoc(&context, model.path));
  if (failed(importGraph(*module, model, table, sizes, options)) ||
      failed(verify(*module)) || failed(verifySizes(*module)))
    return failure();
  return module;
}
