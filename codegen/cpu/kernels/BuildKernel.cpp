//===- BuildKernel.cpp - the function around a kernel's code --------------===//
//
// Makes the function, loads the addresses of operands and results, and lets the
// template of the kernel's kind write the rest.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/Template.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

bool cleave::isGenerated(KernelKind kind) {
  return kind != KernelKind::Matmul && kind != KernelKind::Conv;
}

/// What a set error cell of this kernel means; none: it cannot fail.
static std::string getFailMessage(KernelOp kernel) {
  std::string message;
  kernel.getBody().walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op).Case<GatherOp, ScatterOp>([&](auto op) {
      std::string size =
          std::to_string(op.getX().getType().getDimSize(op.getDim()));
      message =
          "an index is out of range: expected -" + size + " <= index < " + size;
    });
    if (!isa<CrossEntropyOp, CrossEntropyGradOp>(op))
      return;
    auto logits = cast<RankedTensorType>(op->getOperand(0).getType());
    message = "a label is out of range: expected 0 <= label < " +
              std::to_string(logits.getShape().back()) + " or ignore_index";
  });
  return message;
}

static View getView(Value base, Type type, BufferAttr buffer) {
  View view;
  view.base = base;
  view.element = cast<RankedTensorType>(type).getElementType();
  view.strides = llvm::to_vector(buffer.getStrides());
  return view;
}

/// Types that the templates compute with.
static LogicalResult verifyTypes(KernelOp kernel) {
  auto isKnown = [](Type type) {
    Type element = getElementTypeOrSelf(type);
    if (auto integer = dyn_cast<IntegerType>(element))
      return llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
    return element.isF16() || element.isBF16() || element.isF32() ||
           element.isF64();
  };
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (!isKnown(type)) {
        op->emitOpError() << "has no code for " << type
                          << ", expected bool, int8 to int64, f16, bf16, f32 "
                             "or f64 elements";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  for (Type type : kernel.getOperandTypes())
    if (!isKnown(type))
      return kernel.emitOpError()
             << "has no code for operands of type " << type;
  return failure(result.wasInterrupted());
}

static FailureOr<KernelPlan> build(Template &kernel) {
  switch (kernel.op.getKind()) {
  case KernelKind::Loop:
    return buildLoopKernel(kernel);
  case KernelKind::Row:
    return buildRowKernel(kernel);
  case KernelKind::Reduce:
    return buildReduceKernel(kernel);
  case KernelKind::Attention:
    return buildAttentionKernel(kernel);
  case KernelKind::Matmul:
  case KernelKind::Conv:
    break;
  }
  return kernel.op.emitOpError()
         << "of kind " << stringifyKernelKind(kernel.op.getKind())
         << " is a library call and has no generated code";
}

/// Makes views of operands, results and constant arrays at the function's
/// start.
static void makeViews(Template &kernel, Value args, bool mayFail,
                      ArrayRef<BufferAttr> operands,
                      ArrayRef<BufferAttr> results) {
  Code &code = kernel.code;
  Type pointer = code.pointerType();
  int64_t number = 0;
  auto nextArgument = [&]() -> Value {
    Value slot = code.address(args, pointer, code.index(number++));
    return code.b.create<LLVM::LoadOp>(code.loc, pointer, slot, 8);
  };
  Block &body = kernel.op.getBody().front();
  for (auto [argument, buffer] : llvm::zip(body.getArguments(), operands))
    kernel.views[argument] =
        getView(nextArgument(), argument.getType(), buffer);
  for (auto [type, buffer] : llvm::zip(kernel.op.getResultTypes(), results))
    kernel.results.push_back(getView(nextArgument(), type, buffer));
  if (mayFail)
    kernel.errorCell = nextArgument();
  for (auto constant : body.getOps<ConstantOp>())
    if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()))
      if (!value.isSplat())
        kernel.views[constant.getResult()] = makeConstantView(code, value);
}

FailureOr<KernelPlan> cleave::buildKernel(KernelOp op,
                                          ArrayRef<BufferAttr> operands,
                                          ArrayRef<BufferAttr> results,
                                          StringRef name, ModuleOp target) {
  if (operands.size() != op.getNumOperands() ||
      results.size() != op.getNumResults())
    return op.emitOpError()
           << "has " << op.getNumOperands() << " operands and "
           << op.getNumResults() << " results, found " << operands.size()
           << " and " << results.size() << " buffers";
  if (failed(verifyTypes(op)))
    return failure();
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  b.getContext()
      ->loadDialect<LLVM::LLVMDialect, arith::ArithDialect, math::MathDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  Location loc = op.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(b.getContext()), {pointer, i64, i64, pointer});
  auto function = b.create<LLVM::LLVMFuncOp>(loc, name, type);
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Code code(b, loc);
  Template kernel(op, code);
  kernel.begin = entry->getArgument(1);
  kernel.end = entry->getArgument(2);
  kernel.scratch = entry->getArgument(3);
  std::string message = getFailMessage(op);
  makeViews(kernel, entry->getArgument(0), !message.empty(), operands, results);
  FailureOr<KernelPlan> plan = build(kernel);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  if (failed(plan)) {
    function.erase();
    return failure();
  }
  plan->mayFail = !message.empty();
  plan->failMessage = message;
  return plan;
}

/// Prints the op with values by their number in the body.
static void printKey(llvm::raw_ostream &out, Operation &op,
                     llvm::DenseMap<Value, int64_t> &numbers) {
  out << op.getName() << "(";
  for (Value operand : op.getOperands())
    out << numbers.lookup(operand) << ",";
  out << ")" << op.getPropertiesAsAttribute() << "->";
  for (Value result : op.getResults()) {
    numbers.try_emplace(result, numbers.size());
    out << result.getType() << ",";
  }
}

std::string cleave::getKernelKey(KernelOp op, ArrayRef<BufferAttr> operands,
                                 ArrayRef<BufferAttr> results) {
  std::string key;
  llvm::raw_string_ostream out(key);
  out << stringifyKernelKind(op.getKind());
  llvm::DenseMap<Value, int64_t> numbers;
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    numbers.try_emplace(argument, numbers.size());
    out << argument.getType() << ",";
  }
  for (Operation &inner : body)
    printKey(out, inner, numbers);
  for (ArrayRef<BufferAttr> buffers : {operands, results})
    for (BufferAttr buffer : buffers) {
      out << "[";
      llvm::interleaveComma(buffer.getStrides(), out);
      out << "]";
    }
  return key;
}
