//===- LibraryCall.cpp - read the library call of a kernel ----------------===//

#include "codegen/host/LibraryCall.h"

using namespace cleave;
using namespace mlir;

FailureOr<LibraryCall> cleave::readLibraryCall(KernelOp kernel) {
  switch (kernel.getKind()) {
  case KernelKind::Matmul:
    return readMatmul(kernel);
  case KernelKind::Conv:
    return readConv(kernel);
  case KernelKind::ConvWeightGrad:
    return readConvWeightGrad(kernel);
  default:
    return kernel.emitOpError()
           << "of kind " << stringifyKernelKind(kernel.getKind())
           << " is no library call";
  }
}
