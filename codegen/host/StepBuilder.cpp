//===- StepBuilder.cpp - write the body of a step function ----------------===//
//
// The entry block has a prologue, which loads base addresses and makes stack
// slots, so that these dominate all uses. The slots are as large as their
// largest use needs.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/StepBuilder.h"

using namespace cleave;
using namespace mlir;

StringRef ConstantPool::add(StringRef prefix, StringRef bytes,
                            int64_t alignment) {
  std::string &name = names[(prefix + bytes).str()];
  if (!name.empty())
    return name;
  name = (prefix + Twine(names.size())).str();
  OpBuilder b = OpBuilder::atBlockBegin(target.getBody());
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
  b.create<LLVM::GlobalOp>(target.getLoc(), type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name,
                           b.getStringAttr(bytes), alignment);
  return name;
}

StepBuilder::StepBuilder(ConstantPool &pool, StringRef name, bool isChunk)
    : pool(pool), target(pool.getModule()), loc(target.getLoc()),
      b(OpBuilder::atBlockEnd(target.getBody())),
      pointer(LLVM::LLVMPointerType::get(target.getContext())) {
  SmallVector<Type> arguments{pointer, pointer};
  if (isChunk)
    arguments.push_back(b.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), arguments);
  function =
      b.create<LLVM::LLVMFuncOp>(loc, name, type, LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(b);
  // The slots' sizes are set when they are used.
  b.setInsertionPointToStart(entry);
  Value one = i64(1);
  pointerArray = b.create<LLVM::AllocaOp>(loc, pointer, pointer, one, 8);
  errorCell = b.create<LLVM::AllocaOp>(loc, pointer, b.getI64Type(), one, 8);
  prologueEnd = errorCell;
  b.setInsertionPointToEnd(entry);
}

Value StepBuilder::i32(int32_t value) {
  return b.create<LLVM::ConstantOp>(loc, b.getI32IntegerAttr(value));
}

Value StepBuilder::i64(int64_t value) {
  return b.create<LLVM::ConstantOp>(loc, b.getI64IntegerAttr(value));
}

Value StepBuilder::null() { return b.create<LLVM::ZeroOp>(loc, pointer); }

//===-- Globals -----------------------------------------------------------===//

Value StepBuilder::text(StringRef text) {
  std::string bytes = (text + Twine('\0')).str();
  return symbol(pool.add("text", bytes, 1));
}

Value StepBuilder::constant(StringRef bytes) {
  return symbol(pool.add("constant", bytes, 64));
}

Value StepBuilder::symbol(StringRef name) {
  return b.create<LLVM::AddressOfOp>(loc, pointer, name);
}

//===-- Addresses ---------------------------------------------------------===//

Value StepBuilder::inPrologue(llvm::function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(prologueEnd);
  return build();
}

/// Field of CleaveStep that leads to a space.
static int32_t getStepField(BufferSpace space) {
  switch (space) {
  case BufferSpace::Arena:
    return 0;
  case BufferSpace::Input:
    return 1;
  case BufferSpace::Output:
    return 2;
  case BufferSpace::State:
    return 3;
  case BufferSpace::Coords:
    return 4;
  case BufferSpace::Constant:
    return 6;
  }
  llvm_unreachable("all spaces are listed");
}

/// Spaces whose field is a table of pointers, one per index.
static bool isTable(BufferSpace space) {
  return space == BufferSpace::Input || space == BufferSpace::Output ||
         space == BufferSpace::State;
}

Value StepBuilder::base(BufferSpace space, int64_t index) {
  if (!isTable(space))
    index = 0;
  Value &value = bases[{static_cast<int64_t>(space), index}];
  if (value)
    return value;
  return value = inPrologue([&] {
           Value field = load(pointer, offset(function.getArgument(1),
                                              8 * getStepField(space)));
           return isTable(space) ? load(pointer, offset(field, 8 * index))
                                 : field;
         });
}

Value StepBuilder::microBatch() {
  return function.getNumArguments() > 2 ? function.getArgument(2) : Value();
}

Value StepBuilder::offset(Value address, Value bytes) {
  return b.create<LLVM::GEPOp>(loc, pointer, b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{bytes},
                               /*inbounds=*/true);
}

Value StepBuilder::offset(Value address, int64_t bytes) {
  return bytes == 0 ? address : offset(address, i64(bytes));
}

Value StepBuilder::address(BufferAttr buffer) {
  Value base = this->base(buffer.getSpace(), buffer.getIndex());
  // The coordinates are an array of i64.
  int64_t bytes = buffer.getOffset();
  if (buffer.getSpace() == BufferSpace::Coords)
    bytes += 8 * buffer.getIndex();
  Value first = offset(base, bytes);
  if (buffer.getSlots() == 1)
    return first;
  Value slot =
      b.create<LLVM::URemOp>(loc, microBatch(), i64(buffer.getSlots()));
  return offset(first, multiplyAdd(slot, buffer.getSlotBytes(), i64(0)));
}

Value StepBuilder::deviceConstant(int64_t bytes) {
  return offset(base(BufferSpace::Constant, 0), bytes);
}

Value StepBuilder::coord(int64_t axis) {
  constexpr int32_t HostCoords = 5;
  Value table = inPrologue([&] {
    return load(pointer, offset(function.getArgument(1), 8 * HostCoords));
  });
  return load(b.getI64Type(), offset(table, 8 * axis));
}

Value StepBuilder::array(ValueRange pointers) {
  int64_t needed = std::max<int64_t>(pointers.size(), 1);
  auto size = pointerArray.getArraySize().getDefiningOp<LLVM::ConstantOp>();
  if (cast<IntegerAttr>(size.getValue()).getInt() < needed)
    pointerArray.getArraySizeMutable().assign(inPrologue([&] {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(pointerArray);
      return i64(needed);
    }));
  for (auto [i, value] : llvm::enumerate(pointers))
    store(value, offset(pointerArray, 8 * i));
  return pointerArray;
}

Value StepBuilder::cell() {
  store(i64(0), errorCell);
  return errorCell;
}

//===-- Instructions ------------------------------------------------------===//

Value StepBuilder::load(Type type, Value address) {
  return b.create<LLVM::LoadOp>(loc, type, address);
}

void StepBuilder::store(Value value, Value address) {
  b.create<LLVM::StoreOp>(loc, value, address);
}

Value StepBuilder::multiplyAdd(Value value, int64_t factor, Value other) {
  Value product = b.create<LLVM::MulOp>(loc, value, i64(factor));
  return b.create<LLVM::AddOp>(loc, product, other);
}

void StepBuilder::call(StringRef name, ValueRange arguments) {
  SmallVector<Value> all{context()};
  llvm::append_range(all, arguments);
  auto callee = target.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(target.getBody());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()),
        llvm::to_vector(ValueRange(all).getTypes()));
    callee = b.create<LLVM::LLVMFuncOp>(target.getLoc(), name, type);
  }
  b.create<LLVM::CallOp>(loc, callee, all);
}

void StepBuilder::ifNotZero(Value cell, llvm::function_ref<void()> body) {
  Value value = load(b.getI64Type(), cell);
  Value isSet =
      b.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::ne, value, i64(0));
  Block *from = b.getInsertionBlock();
  Block *then = b.createBlock(&function.getBody(), function.getBody().end());
  Block *after = b.createBlock(&function.getBody(), function.getBody().end());
  b.setInsertionPointToEnd(from);
  b.create<LLVM::CondBrOp>(loc, isSet, then, after);
  b.setInsertionPointToEnd(then);
  body();
  b.create<LLVM::BrOp>(loc, after);
  b.setInsertionPointToEnd(after);
}

void StepBuilder::callChunk(StringRef name, Value microBatch) {
  auto callee = target.lookupSymbol<LLVM::LLVMFuncOp>(name);
  b.create<LLVM::CallOp>(
      loc, callee, ValueRange{context(), function.getArgument(1), microBatch});
}

void StepBuilder::loop(int64_t count, llvm::function_ref<void(Value)> body) {
  Region &region = function.getBody();
  Value zero = i64(0);
  Block *from = b.getInsertionBlock();
  Block *turn = b.createBlock(&region, region.end(), {b.getI64Type()}, {loc});
  Value index = turn->getArgument(0);
  body(index);
  Value next = add(index, 1);
  Value more =
      b.create<LLVM::ICmpOp>(loc, LLVM::ICmpPredicate::slt, next, i64(count));
  Block *end = b.getInsertionBlock();
  Block *after = b.createBlock(&region, region.end());
  b.setInsertionPointToEnd(from);
  b.create<LLVM::BrOp>(loc, ValueRange{zero}, turn);
  b.setInsertionPointToEnd(end);
  b.create<LLVM::CondBrOp>(loc, more, turn, ValueRange{next}, after,
                           ValueRange());
  b.setInsertionPointToEnd(after);
}

Value StepBuilder::add(Value value, int64_t other) {
  return b.create<LLVM::AddOp>(loc, value, i64(other));
}

void StepBuilder::finish() { b.create<LLVM::ReturnOp>(loc, ValueRange()); }
