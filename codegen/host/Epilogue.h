//===- Epilogue.h - what a library kernel does after its product ----------===//
//
// A matmul or conv kernel is one contraction, followed by a chain of
// elementwise ops that the library applies to its accumulator. All tensors of
// the chain are seen as views over the dims of the contraction's result.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_HOST_EPILOGUE_H
#define CLEAVE_CODEGEN_HOST_EPILOGUE_H

#include "ir/Cleave.h"
#include "ir/StridedView.h"
#include "runtime/Abi.h"

namespace cleave {

/// A tensor that a library kernel reads: a view of an operand of the kernel, or
/// a constant of one value.
struct LibraryOperand {
  StridedView view;
  int64_t operand = -1; ///< of the kernel; -1: `constant`
  mlir::SplatElementsAttr constant;
  mlir::Type elementType;
};

struct LibraryPostOp {
  CleavePostOpKind kind;
  std::optional<LibraryOperand> operand;
};

struct Epilogue {
  mlir::Operation *contraction; ///< the dot or conv
  StridedView result; ///< the kernel's result over the contraction's dims
  llvm::SmallVector<LibraryPostOp> postOps; ///< in order of execution
};

/// Traces a value of the body through views to what it is a view of.
mlir::FailureOr<LibraryOperand> traceOperand(KernelOp kernel,
                                             mlir::Value value);

/// Reads the body of a matmul or conv kernel. Fails with a located error where
/// the body holds what the library cannot do in one call.
mlir::FailureOr<Epilogue> readEpilogue(KernelOp kernel);

} // namespace cleave

#endif
