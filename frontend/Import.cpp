//===- Import.cpp - from an ONNX file to a logical program ----------------===//

#include "frontend/Import.h"

#include "frontend/BindDims.h"
#include "frontend/GraphImporter.h"
#include "frontend/Load.h"
#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace cleave;
using namespace mlir;

FailureOr<OwningOpRef<ModuleOp>>
cleave::importModel(MLIRContext &context, StringRef path,
                    const ImportOptions &options) {
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  OperatorTable table;
  LoadedModel model;
  DimSizes sizes;
  if (failed(loadModel(&context, path, model)) ||
      failed(verifySupported(&context, model, table)) ||
      failed(bindDims(&context, options, model, sizes)) ||
      failed(checkModel(&context, model)))
    return failure();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(getFileLoc(&context, model.path));
  if (failed(importGraph(*module, model, table, sizes)) ||
      failed(verify(*module)))
    return failure();
  return module;
}
