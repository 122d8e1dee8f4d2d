//===- Import.cpp - from an ONNX file to a logical program ----------------===//

#include "frontend/Import.h"

#include "frontend/BindDims.h"
#include "frontend/BindValues.h"
#include "frontend/GraphImporter.h"
#include "frontend/Load.h"
#include "frontend/NodeImporter.h"
#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

/// Whether an address space can hold the tensor. Sizes of what fits are added
/// up later without a look at overflow.
static bool fitsMemory(RankedTensorType type) {
  constexpr int64_t MostBytes = int64_t(1) << 47;
  int64_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  if (type.getNumDynamicDims() || llvm::is_contained(type.getShape(), 0))
    return true;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > MostBytes)
      return false;
  return true;
}

static LogicalResult verifySizes(ModuleOp module) {
  auto verifyValue = [](Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || fitsMemory(type))
      return success();
    return emitError(value.getLoc())
           << "a tensor of type " << type << " is larger than any memory";
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
  if (failed(loadModel(&context, path, model)) ||
      failed(verifySupported(&context, model, table)) ||
      failed(bindValues(&context, options, model)) ||
      failed(bindDims(&context, options, model, sizes)) ||
      failed(checkModel(&context, model)))
    return failure();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(getFileLoc(&context, model.path));
  if (failed(importGraph(*module, model, table, sizes, options.train)) ||
      failed(verify(*module)) || failed(verifySizes(*module)))
    return failure();
  return module;
}
