//===- ProgramSymbol.cpp - the one symbol of a program --------------------===//
//
// A constant CleaveProgram of runtime/Abi.h, in LLVM dialect.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/HostStep.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/Abi.h"
#include "runtime/Format.h"

using namespace cleave;
using namespace mlir;

/// Adds a constant string that ends in 0.
static void addString(OpBuilder &b, Location loc, StringRef name,
                      StringRef text) {
  std::string bytes = (text + Twine('\0')).str();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  b.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name,
                           b.getStringAttr(bytes),
                           /*alignment=*/1);
}

void cleave::addProgramSymbol(const ProgramCode &code, StringRef name,
                              StringRef identity) {
  ModuleOp module = *code.module;
  Location loc = module.getLoc();
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  addString(b, loc, "program_name", name);
  addString(b, loc, "program_identity", identity);

  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(),
      {i32, i32, i64, pointer, pointer, pointer, pointer, pointer});
  auto global = b.create<LLVM::GlobalOp>(loc, type, /*isConstant=*/true,
                                         LLVM::Linkage::External,
                                         format::ProgramSymbol, Attribute(),
                                         /*alignment=*/8);
  b.createBlock(&global.getInitializerRegion());
  Value device =
      code.device.empty()
          ? Value(b.create<LLVM::ZeroOp>(loc, pointer))
          : Value(b.create<LLVM::AddressOfOp>(loc, pointer, code.device));
  Value fields[] = {
      b.create<LLVM::ConstantOp>(loc, b.getI32IntegerAttr(CLEAVE_ABI_VERSION)),
      b.create<LLVM::ConstantOp>(loc, b.getI32IntegerAttr(code.slotCount)),
      b.create<LLVM::ConstantOp>(loc, b.getI64IntegerAttr(code.arenaBytes)),
      b.create<LLVM::AddressOfOp>(loc, pointer, "program_identity"),
      b.create<LLVM::AddressOfOp>(loc, pointer, "program_name"),
      b.create<LLVM::AddressOfOp>(loc, pointer, StepFunction),
      code.hasPrepare
          ? b.create<LLVM::AddressOfOp>(loc, pointer, PrepareFunction)
                .getResult()
          : b.create<LLVM::ZeroOp>(loc, pointer).getResult(),
      device};
  Value value = b.create<LLVM::UndefOp>(loc, type);
  for (auto [i, field] : llvm::enumerate(fields))
    value = b.create<LLVM::InsertValueOp>(loc, value, field, i);
  b.create<LLVM::ReturnOp>(loc, value);
}
