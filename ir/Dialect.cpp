//===- Dialect.cpp - registers attributes and ops -------------------------===//

#include "ir/Cleave.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace cleave;

#include "ir/Dialect.cpp.inc"

void CleaveDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "ir/Elementwise.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Contraction.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Reduction.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Movement.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Composite.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/State.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Distribution.cpp.inc"
      ,
#define GET_OP_LIST
#include "ir/Program.cpp.inc"
      >();
}

mlir::Operation *CleaveDialect::materializeConstant(mlir::OpBuilder &builder,
                                                    mlir::Attribute value,
                                                    mlir::Type type,
                                                    mlir::Location loc) {
  auto elements = llvm::dyn_cast<mlir::ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, elements);
}
