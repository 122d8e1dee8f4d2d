//===- Jit.cpp - compile and run one kernel in this process ---------------===//

#include "test/unit/kernels/Jit.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace cleave;
using namespace mlir;

static SmallVector<BufferAttr>
makeBuffers(TypeRange types, ArrayRef<std::vector<int64_t>> given) {
  SmallVector<BufferAttr> buffers;
  for (auto [i, type] : llvm::enumerate(types)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    SmallVector<int64_t> strides(shape.size(), 1);
    for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
      strides[dim] = strides[dim + 1] * shape[dim + 1];
    if (i < given.size() && !given[i].empty())
      strides.assign(given[i].begin(), given[i].end());
    buffers.push_back(
        BufferAttr::get(type.getContext(), BufferSpace::Arena, 0, 0, strides));
  }
  return buffers;
}

static void orAbort(bool isGood, const char *what) {
  if (isGood)
    return;
  llvm::errs() << "kernel test: cannot " << what << "\n";
  std::abort();
}

JitKernel::JitKernel(llvm::StringRef text,
                     std::vector<std::vector<int64_t>> strides) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  context.loadDialect<CleaveDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  orAbort(bool(module), "parse the kernel");
  KernelOp kernel;
  module->walk([&](KernelOp op) { kernel = op; });
  ArrayRef given(strides);
  size_t operands = kernel.getNumOperands();
  auto target = ModuleOp::create(UnknownLoc::get(&context));
  auto built = buildKernel(
      kernel, makeBuffers(kernel.getOperandTypes(), given.take_front(operands)),
      makeBuffers(kernel.getResultTypes(),
                  given.drop_front(std::min(operands, given.size()))),
      "kernel", target);
  orAbort(succeeded(built), "build the kernel");
  plan = *built;
  orAbort(succeeded(verify(target)), "verify the kernel's code");
  orAbort(succeeded(lowerKernels(target)), "lower the kernel");
  llvm::SmallVector<char> object;
  orAbort(succeeded(emitObject(target, "native", object)), "emit the object");
  target.erase();
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  jit->getMainJITDylib().addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(object.data(), object.size()))));
  function = llvm::cantFail(jit->lookup("kernel"))
                 .toPtr<void (*)(void *const *, int64_t, int64_t, void *)>();
}

int64_t JitKernel::run(std::vector<void *> args, int64_t parts) {
  int64_t errorCell = 0;
  args.push_back(&errorCell);
  std::vector<char> memory(plan.scratchBytesPerThread + 64);
  auto base = (reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64;
  for (int64_t part = 0; part < parts; ++part)
    function(args.data(), plan.extent * part / parts,
             plan.extent * (part + 1) / parts, reinterpret_cast<void *>(base));
  return errorCell;
}

std::string cleave::loopText(std::vector<std::string> operands,
                             std::string result, std::string body) {
  std::string args, names, types, block;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string comma = i ? ", " : "";
    args += llvm::formatv("{0}%a{1}: tensor<{2}>", comma, i, operands[i]);
    names += llvm::formatv("{0}%a{1}", comma, i);
    types += llvm::formatv("{0}tensor<{1}>", comma, operands[i]);
    block += llvm::formatv("{0}%x{1}: tensor<{2}>", comma, i, operands[i]);
  }
  return llvm::formatv(R"(
    func.func @f({0}) -> tensor<{1}> {{
      %r = cleave.kernel loop({2}) : ({3}) -> tensor<{1}> {{
      ^bb0({4}):
        {5}
        cleave.yield %y : tensor<{1}>
      }
      return %r : tensor<{1}>
    })",
                       args, result, names, types, block, body);
}
