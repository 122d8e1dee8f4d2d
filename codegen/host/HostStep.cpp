//===- HostStep.cpp - generate the program of one stage -------------------===//
//
// Kernels first, so that the step function finds them by name; then the step
// function.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/HostStep.h"

#include "codegen/host/StepEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

FailureOr<ProgramCode> cleave::buildProgram(const RankModule &ranks,
                                            const Program &program,
                                            ProgramTarget &target) {
  func::FuncOp stage = program.function;
  auto bytes = stage->getAttrOfType<IntegerAttr>("cleave.arena_bytes");
  if (!bytes)
    return stage.emitError()
           << "stage '" << stage.getSymName()
           << "' has no `cleave.arena_bytes`; expected memory to be planned";
  ProgramCode code;
  code.module = ModuleOp::create(stage.getLoc(), program.name);
  if (failed(target.buildKernels(stage, *code.module)))
    return failure();
  ConstantPool constants(*code.module);
  StepScope scope{ranks, program, target, constants};
  if (failed(StepEmitter(scope, StepFunction).emit(stage.getBody().front())))
    return failure();
  FailureOr<std::string> device = target.addDeviceCode(*code.module);
  if (failed(device))
    return failure();
  code.device = *device;
  code.arenaBytes = llvm::alignTo(bytes.getInt(), 64);
  code.slotCount = scope.slotCount;
  code.hasPrepare = !stage.getOps<PrepareOp>().empty();
  return code;
}
