//===- DeviceCode.cpp - from lowered kernels to PTX and cubins ------------===//

#include "codegen/cuda/DeviceCode.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

using namespace cleave;
using namespace mlir;

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

std::optional<int64_t> cleave::parseArch(StringRef arch) {
  int64_t number = 0;
  constexpr int64_t Least = 80, Most = 130;
  if (!arch.consume_front("sm_") || arch.getAsInteger(10, number) ||
      number < Least || number > Most)
    return std::nullopt;
  return number;
}

int64_t cleave::getPtxArch(int64_t arch) { return arch < 90 ? 80 : 90; }

//===-- PTX ---------------------------------------------------------------===//

static std::unique_ptr<llvm::TargetMachine> makeMachine(ModuleOp module,
                                                        int64_t arch) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  const char *triple = "nvptx64-nvidia-cuda";
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError() << "no code generator for " << triple << ": " << error;
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "sm_" + std::to_string(arch), "+ptx78", options,
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

static void optimise(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

FailureOr<std::string> cleave::emitPtx(ModuleOp kernels, int64_t arch) {
  std::unique_ptr<llvm::TargetMachine> machine = makeMachine(kernels, arch);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context, "cleave");
  if (!module)
    return kernels.emitError() << "cannot be translated to LLVM IR";
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  optimise(*module, *machine);
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError() << "no PTX for sm_" << arch;
  passes.run(*module);
  return std::string(text.begin(), text.end());
}

//===-- Symbols -----------------------------------------------------------===//

namespace {
/// Adds constants to a module.
class SymbolWriter {
public:
  explicit SymbolWriter(ModuleOp module)
      : loc(module.getLoc()), b(OpBuilder::atBlockEnd(module.getBody())),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void addBytes(StringRef name, StringRef bytes) {
    constexpr int64_t Alignment = 64;
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    b.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name,
                             b.getStringAttr(bytes), Alignment);
  }

  /// A constant of `type`, whose fields in order `makeFields` gives.
  void addAggregate(StringRef name, Type type,
                    llvm::function_ref<SmallVector<Value>(Type)> makeFields) {
    OpBuilder::InsertionGuard guard(b);
    auto global =
        b.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true,
                                 LLVM::Linkage::Internal, name, Attribute(), 8);
    b.createBlock(&global.getInitializerRegion());
    b.create<LLVM::ReturnOp>(loc, insert(type, makeFields(type)));
  }

  Value insert(Type type, ArrayRef<Value> fields) {
    Value value = b.create<LLVM::UndefOp>(loc, type);
    for (auto [i, field] : llvm::enumerate(fields))
      value = b.create<LLVM::InsertValueOp>(loc, value, field, i);
    return value;
  }
  Value i32(int64_t value) {
    return b.create<LLVM::ConstantOp>(
        loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value i64(int64_t value) {
    return b.create<LLVM::ConstantOp>(loc, b.getI64IntegerAttr(value));
  }
  Value symbol(StringRef name) {
    return b.create<LLVM::AddressOfOp>(loc, pointer, name);
  }

  Location loc;
  OpBuilder b;
  Type pointer;
};
} // namespace

std::string cleave::addDeviceSymbols(ModuleOp program,
                                     ArrayRef<std::string> kernels,
                                     ArrayRef<DeviceImage> images,
                                     StringRef constants, int64_t cells) {
  SymbolWriter w(program);
  MLIRContext *context = program.getContext();
  Type i32 = w.b.getI32Type(), i64 = w.b.getI64Type();
  for (auto [i, name] : llvm::enumerate(kernels))
    w.addBytes("kernel_name" + std::to_string(i), name + std::string(1, '\0'));
  for (auto [i, image] : llvm::enumerate(images))
    w.addBytes("device_image" + std::to_string(i), image.bytes);
  w.addBytes("device_constants", constants);
  w.addAggregate(
      "kernel_names", LLVM::LLVMArrayType::get(w.pointer, kernels.size()),
      [&](Type) {
        SmallVector<Value> names;
        for (size_t i = 0; i < kernels.size(); ++i)
          names.push_back(w.symbol("kernel_name" + std::to_string(i)));
        return names;
      });
  auto imageType =
      LLVM::LLVMStructType::getLiteral(context, {i32, i32, i64, w.pointer});
  w.addAggregate(
      "device_images", LLVM::LLVMArrayType::get(imageType, images.size()),
      [&](Type) {
        SmallVector<Value> list;
        for (auto [i, image] : llvm::enumerate(images))
          list.push_back(w.insert(
              imageType, {w.i32(image.arch), w.i32(image.isBinary),
                          w.i64(static_cast<int64_t>(image.bytes.size())),
                          w.symbol("device_image" + std::to_string(i))}));
        return list;
      });
  std::string name = "device_code";
  w.addAggregate(
      name,
      LLVM::LLVMStructType::getLiteral(
          context, {i32, i32, i32, w.pointer, w.pointer, w.pointer, i64}),
      [&](Type) -> SmallVector<Value> {
        return {w.i32(static_cast<int64_t>(kernels.size())),
                w.i32(static_cast<int64_t>(images.size())),
                w.i32(cells),
                w.symbol("kernel_names"),
                w.symbol("device_images"),
                w.symbol("device_constants"),
                w.i64(static_cast<int64_t>(constants.size()))};
      });
  return name;
}
