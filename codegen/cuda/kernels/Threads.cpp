//===- Threads.cpp - threads, teams and shared memory of a kernel ---------===//

#include "codegen/cuda/kernels/Threads.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

int64_t cuda::roundToPower(int64_t value) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(value));
}

static Value extend(Code &code, Value narrow) {
  return code.b.create<arith::ExtUIOp>(code.loc, code.b.getI64Type(), narrow);
}

Value cuda::getThread(Code &code) {
  return extend(
      code, code.b.create<NVVM::ThreadIdXOp>(code.loc, code.b.getI32Type()));
}

Value cuda::getBlock(Code &code) {
  return extend(code,
                code.b.create<NVVM::BlockIdXOp>(code.loc, code.b.getI32Type()));
}

void cuda::makeBarrier(Code &code) {
  code.b.create<NVVM::Barrier0Op>(code.loc);
}

Value cuda::makeShared(Code &code, Type memory, int64_t count) {
  constexpr unsigned SharedSpace = 3;
  OpBuilder &b = code.b;
  auto function =
      b.getBlock()->getParent()->getParentOfType<LLVM::LLVMFuncOp>();
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  for (int64_t number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = (function.getName() + ".shared" + Twine(number)).str();
  auto type = LLVM::LLVMArrayType::get(memory, count);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    b.create<LLVM::GlobalOp>(code.loc, type, /*isConstant=*/false,
                             LLVM::Linkage::Internal, name, Attribute(),
                             /*alignment=*/16, SharedSpace);
  }
  Value address = b.create<LLVM::AddressOfOp>(
      code.loc, LLVM::LLVMPointerType::get(b.getContext(), SharedSpace), name);
  return b.create<LLVM::AddrSpaceCastOp>(code.loc, code.pointerType(), address);
}

//===-- Shuffles ----------------------------------------------------------===//

/// Of an i32 or f32.
static Value shuffleWord(Code &code, Value value, int64_t mask) {
  OpBuilder &b = code.b;
  auto c = [&](int32_t number) -> Value {
    return b.create<LLVM::ConstantOp>(code.loc, b.getI32IntegerAttr(number));
  };
  return b.create<NVVM::ShflOp>(code.loc, value.getType(), c(-1), value,
                                c(static_cast<int32_t>(mask)), c(WarpSize - 1),
                                NVVM::ShflKind::bfly, UnitAttr());
}

Value cuda::shuffleXor(Code &code, Value value, int64_t mask) {
  OpBuilder &b = code.b;
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  unsigned width = type.getIntOrFloatBitWidth();
  if (type.isF32() || type == i32)
    return shuffleWord(code, value, mask);
  if (isa<FloatType>(type)) {
    Type bits = b.getIntegerType(width);
    Value moved = shuffleXor(
        code, b.create<arith::BitcastOp>(code.loc, bits, value), mask);
    return b.create<arith::BitcastOp>(code.loc, type, moved);
  }
  if (width < 32) {
    Value moved =
        shuffleWord(code, b.create<arith::ExtUIOp>(code.loc, i32, value), mask);
    return b.create<arith::TruncIOp>(code.loc, type, moved);
  }
  Value half = code.constant(i64, 32.0);
  Value low = b.create<arith::TruncIOp>(code.loc, i32, value);
  Value high = b.create<arith::TruncIOp>(
      code.loc, i32, b.create<arith::ShRUIOp>(code.loc, value, half));
  low = b.create<arith::ExtUIOp>(code.loc, i64, shuffleWord(code, low, mask));
  high = b.create<arith::ExtUIOp>(code.loc, i64, shuffleWord(code, high, mask));
  return b.create<arith::OrIOp>(code.loc, low,
                                b.create<arith::ShLIOp>(code.loc, high, half));
}

//===-- Items -------------------------------------------------------------===//

void cuda::forItems(Code &code, Value self, int64_t threads, int64_t extent,
                    function_ref<void(Value)> body) {
  if (extent <= threads)
    return code.ifThen(code.less(self, code.index(extent)),
                       [&] { body(self); });
  // Numbers that fit 32 bits are divided in fewer instructions.
  bool isNarrow = extent + threads < (int64_t{1} << 31);
  if (!isNarrow)
    return code.loop(self, code.index(extent), threads, body);
  OpBuilder &b = code.b;
  Type i32 = b.getI32Type();
  auto c = [&](int64_t value) -> Value {
    return b.create<arith::ConstantOp>(code.loc, b.getI32IntegerAttr(value));
  };
  Value from = b.create<arith::TruncIOp>(code.loc, i32, self);
  auto loop = b.create<scf::ForOp>(code.loc, from, c(extent), c(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(extend(code, loop.getInductionVar()));
}

//===-- Teams -------------------------------------------------------------===//

Team::Team(Code &code, int64_t size, int64_t block)
    : size(size), perBlock(block / size), code(code) {
  Value thread = getThread(code);
  self = perBlock == 1 ? thread : code.rem(thread, size);
  number = perBlock == 1 ? code.index(0) : code.div(thread, size);
}

/// Each warp folds its values by shuffles; what the warps of a larger team have
/// goes through shared memory, and each thread folds it in the same order.
Value Team::fold(Value value, function_ref<Value(Value, Value)> combine) {
  for (int64_t mask = std::min(size, WarpSize) / 2; mask > 0; mask /= 2)
    value = combine(value, shuffleXor(code, value, mask));
  if (size <= WarpSize)
    return value;
  int64_t warps = size / WarpSize;
  Type type = value.getType();
  Value memory = makeShared(code, getMemoryType(type), warps * perBlock);
  Value first = code.mul(number, warps);
  Value warp = code.div(self, WarpSize);
  code.storeScalar(
      value, code.address(memory, getMemoryType(type), code.add(first, warp)),
      type);
  makeBarrier(code);
  Value total;
  for (int64_t i = 0; i < warps; ++i) {
    Value part = code.loadScalar(
        code.address(memory, getMemoryType(type), code.add(first, i)), type);
    total = total ? combine(total, part) : part;
  }
  return total;
}
