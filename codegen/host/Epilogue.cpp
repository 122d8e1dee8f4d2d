//===- Epilogue.cpp - read the chain of a library kernel ------------------===//
//
// Walks from the yield back to the contraction. The views of the result and of
// the operands met so far are carried along, and take the inverse of each
// reshape and transpose, so that at the contraction all are over its dims.
//
// Example: dot [197, 384] -> reshape [1, 197, 6, 64] -> add bias [6, 64]. At
// the add the bias has strides [0, 0, 64, 1] over [1, 197, 6, 64]; the reshape
// turns them into [0, 1] over [197, 384].
//
//===----------------------------------------------------------------------===//

#include "codegen/host/Epilogue.h"

#include "codegen/Buffers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

//===-- Operands ----------------------------------------------------------===//

/// View of `op`'s result, given the view of its operand; none when it is no
/// view.
static std::optional<StridedView> applyView(Operation *op,
                                            const StridedView &source) {
  using Result = std::optional<StridedView>;
  return TypeSwitch<Operation *, Result>(op)
      .Case(
          [&](ReshapeOp op) { return source.reshape(op.getType().getShape()); })
      .Case([&](TransposeOp op) { return source.transpose(op.getPerm()); })
      .Case([&](BroadcastOp op) {
        return source.broadcast(op.getType().getShape(), op.getDims());
      })
      .Case([&](SliceOp op) {
        return source.slice(op.getStarts(), op.getSizes(), op.getStrides());
      })
      .Default([](Operation *) { return std::nullopt; });
}

FailureOr<LibraryOperand> cleave::traceOperand(KernelOp kernel, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    int64_t number = argument.getArgNumber();
    FailureOr<BufferAttr> buffer = getBuffer(kernel.getInputs()[number]);
    if (failed(buffer))
      return failure();
    StridedView view{SmallVector<int64_t>(type.getShape()),
                     SmallVector<int64_t>(buffer->getStrides()), 0};
    return LibraryOperand{view, number, {}, type.getElementType()};
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<ConstantOp>(op))
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue())) {
      StridedView view{SmallVector<int64_t>(type.getShape()),
                       SmallVector<int64_t>(type.getRank(), 0), 0};
      return LibraryOperand{view, -1, splat, type.getElementType()};
    }
  if (op->getNumOperands() == 1) {
    FailureOr<LibraryOperand> source = traceOperand(kernel, op->getOperand(0));
    if (failed(source))
      return failure();
    if (std::optional<StridedView> view = applyView(op, source->view)) {
      source->view = *view;
      return source;
    }
  }
  InFlightDiagnostic diag = kernel.emitOpError()
                            << "of kind "
                            << stringifyKernelKind(kernel.getKind())
                            << " needs operands that are views in memory";
  diag.attachNote(op->getLoc()) << "this op needs a copy";
  return diag;
}

//===-- The chain ---------------------------------------------------------===//

static std::optional<CleavePostOpKind> getPostOp(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::GeluErf:
    return CLEAVE_POST_GELU_ERF;
  case UnaryKind::GeluTanh:
    return CLEAVE_POST_GELU_TANH;
  case UnaryKind::Relu:
    return CLEAVE_POST_RELU;
  case UnaryKind::Sigmoid:
    return CLEAVE_POST_SIGMOID;
  case UnaryKind::Tanh:
    return CLEAVE_POST_TANH;
  case UnaryKind::Silu:
    return CLEAVE_POST_SILU;
  default:
    return std::nullopt;
  }
}

static std::optional<CleavePostOpKind> getPostOp(BinaryKind kind) {
  if (kind == BinaryKind::Add)
    return CLEAVE_POST_ADD;
  if (kind == BinaryKind::Mul)
    return CLEAVE_POST_MUL;
  return std::nullopt;
}

namespace {
class EpilogueReader {
public:
  explicit EpilogueReader(KernelOp kernel) : kernel(kernel) {}
  FailureOr<Epilogue> read();

private:
  LogicalResult findContraction();
  LogicalResult readResult();
  /// Records what `op` does, and returns the value that comes before it.
  FailureOr<Value> step(Operation *op);
  FailureOr<Value> stepBinary(BinaryOp op);
  FailureOr<Value> stepView(Operation *op);
  LogicalResult refuse(Operation *op, const Twine &why);

  KernelOp kernel;
  Epilogue epilogue;
  /// Values that depend on the contraction.
  llvm::DenseSet<Value> chain;
};
} // namespace

LogicalResult EpilogueReader::refuse(Operation *op, const Twine &why) {
  InFlightDiagnostic diag = kernel.emitOpError()
                            << "of kind "
                            << stringifyKernelKind(kernel.getKind())
                            << " is not one library call: " << why;
  diag.attachNote(op->getLoc()) << "found this op";
  return diag;
}

LogicalResult EpilogueReader::findContraction() {
  epilogue.contraction = nullptr;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<DotOp, ConvOp>(op)) {
      if (epilogue.contraction)
        return refuse(&op, "it has two products");
      epilogue.contraction = &op;
      chain.insert(op.getResult(0));
    } else if (llvm::any_of(op.getOperands(), [&](Value value) {
                 return chain.contains(value);
               })) {
      chain.insert(op.result_begin(), op.result_end());
    }
  }
  if (!epilogue.contraction)
    return kernel.emitOpError()
           << "of kind " << stringifyKernelKind(kernel.getKind())
           << " has no product";
  return success();
}

LogicalResult EpilogueReader::readResult() {
  if (kernel.getNumResults() != 1)
    return kernel.emitOpError()
           << "of kind " << stringifyKernelKind(kernel.getKind()) << " has "
           << kernel.getNumResults() << " results; expected 1";
  Value result = kernel.getResult(0);
  FailureOr<BufferAttr> buffer = getBuffer(result);
  if (failed(buffer))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(result.getType()).getShape();
  epilogue.result = {SmallVector<int64_t>(shape),
                     SmallVector<int64_t>(buffer->getStrides()), 0};
  return success();
}

FailureOr<Value> EpilogueReader::stepBinary(BinaryOp op) {
  std::optional<CleavePostOpKind> kind = getPostOp(op.getKind());
  if (!kind)
    return refuse(op, "the library adds and multiplies only");
  bool left = chain.contains(op.getLhs());
  if (left == chain.contains(op.getRhs()))
    return refuse(op, "both operands come from the product");
  FailureOr<LibraryOperand> operand =
      traceOperand(kernel, left ? op.getRhs() : op.getLhs());
  if (failed(operand))
    return failure();
  epilogue.postOps.push_back({*kind, *operand});
  return left ? op.getLhs() : op.getRhs();
}

FailureOr<Value> EpilogueReader::stepView(Operation *op) {
  auto before = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  auto undo = [&](StridedView &view) -> LogicalResult {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      view = view.untranspose(transpose.getPerm());
      return success();
    }
    std::optional<StridedView> reshaped = view.reshape(before);
    if (!reshaped)
      return refuse(op, "its result or an operand needs a copy here");
    view = *reshaped;
    return success();
  };
  if (failed(undo(epilogue.result)))
    return failure();
  for (LibraryPostOp &post : epilogue.postOps)
    if (post.operand && failed(undo(post.operand->view)))
      return failure();
  return op->getOperand(0);
}

FailureOr<Value> EpilogueReader::step(Operation *op) {
  if (isa<ReshapeOp, TransposeOp>(op))
    return stepView(op);
  if (auto binary = dyn_cast<BinaryOp>(op))
    return stepBinary(binary);
  if (auto unary = dyn_cast<UnaryOp>(op))
    if (std::optional<CleavePostOpKind> kind = getPostOp(unary.getKind())) {
      epilogue.postOps.push_back({*kind, std::nullopt});
      return unary.getX();
    }
  return refuse(op, "the library has no such operation");
}

FailureOr<Epilogue> EpilogueReader::read() {
  if (failed(findContraction()) || failed(readResult()))
    return failure();
  Value value = kernel.getBody().front().getTerminator()->getOperand(0);
  while (value.getDefiningOp() != epilogue.contraction) {
    Operation *op = value.getDefiningOp();
    if (!op || !chain.contains(value))
      return kernel.emitOpError() << "yields a value that is not its product's";
    if (!value.hasOneUse())
      return refuse(op, "its result is used twice");
    FailureOr<Value> before = step(op);
    if (failed(before))
      return failure();
    value = *before;
  }
  if (!value.hasOneUse())
    return refuse(epilogue.contraction, "its result is used twice");
  if (epilogue.postOps.size() > CLEAVE_MAX_POST_OPS)
    return kernel.emitOpError() << "has " << epilogue.postOps.size()
                                << " operations after its product; at most "
                                << CLEAVE_MAX_POST_OPS << " fit in one call";
  std::reverse(epilogue.postOps.begin(), epilogue.postOps.end());
  return std::move(epilogue);
}

FailureOr<Epilogue> cleave::readEpilogue(KernelOp kernel) {
  return EpilogueReader(kernel).read();
}
