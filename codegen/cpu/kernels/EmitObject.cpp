//===- EmitObject.cpp - LLVM dialect to optimised object bytes ------------===//

#include "codegen/cpu/kernels/Kernels.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace cleave;
using namespace mlir;

/// Features of this machine in LLVM's spelling, sorted.
static std::string getHostFeatures() {
  llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
  SmallVector<std::string> features;
  for (const auto &feature : found)
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  llvm::sort(features);
  return llvm::join(features, ",");
}

/// A target machine for `cpu`; null after a diagnostic.
static std::unique_ptr<llvm::TargetMachine> makeTarget(ModuleOp module,
                                                       StringRef cpu) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  bool isNative = cpu == "native";
  std::string triple = llvm::sys::getDefaultTargetTriple();
  std::string name = isNative ? llvm::sys::getHostCPUName().str() : cpu.str();
  std::string features = isNative ? getHostFeatures() : "";
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    module.emitError() << "no code generator for " << triple << ": " << error;
    return nullptr;
  }
  // Asked of a machine of that CPU, the library would print a message of its
  // own.
  std::unique_ptr<llvm::MCSubtargetInfo> known(
      target->createMCSubtargetInfo(triple, /*CPU=*/"", /*Features=*/""));
  if (!known->isCPUStringValid(name)) {
    module.emitError() << "unknown CPU '" << name << "' for " << triple;
    return nullptr;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, name, features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  return machine;
}

/// Names the CPU on each function; without it LLVM keeps to 256-bit vectors.
static void setAttributes(llvm::Module &module, llvm::TargetMachine &machine) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("prefer-vector-width", "512");
    function.addFnAttr("min-legal-vector-width", "512");
  }
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

LogicalResult cleave::emitObject(ModuleOp llvmModule, StringRef cpu,
                                 SmallVectorImpl<char> &object) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  llvmModule.getContext()->appendDialectRegistry(registry);
  std::unique_ptr<llvm::TargetMachine> machine = makeTarget(llvmModule, cpu);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(llvmModule, context, "cleave");
  if (!module)
    return llvmModule.emitError() << "cannot be translated to LLVM IR";
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  setAttributes(*module, *machine);
  optimise(*module, *machine);
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return llvmModule.emitError()
           << "no object files for " << machine->getTargetTriple().str();
  passes.run(*module);
  return success();
}
