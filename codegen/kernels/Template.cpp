//===- Template.cpp - what the templates of all targets share -------------===//

#include "codegen/kernels/Template.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

//===-- The kernel --------------------------------------------------------===//

bool cleave::isGenerated(KernelKind kind) {
  return kind != KernelKind::Matmul && kind != KernelKind::Conv &&
         kind != KernelKind::ConvWeightGrad;
}

OperandRange Template::getYields() {
  return op.getBody().front().getTerminator()->getOperands();
}

Evaluator Template::makeEvaluator(int64_t lanes) {
  Evaluator evaluator(code, lanes, errorCell);
  evaluator.views = views;
  return evaluator;
}

llvm::DenseMap<Value, SmallVector<int64_t>> Template::getStrides() {
  llvm::DenseMap<Value, SmallVector<int64_t>> strides;
  for (auto &[value, view] : views)
    strides[value] = view.strides;
  return strides;
}

SmallVector<Index> cleave::getOrigin(Code &code, int64_t rank) {
  return SmallVector<Index>(rank, Index{code.index(0), 0, Value(), 0});
}

void cleave::setPoint(Code &code, MutableArrayRef<Index> point,
                      ArrayRef<Group> groups, Value item) {
  for (size_t i = groups.size(); i-- > 0;) {
    const Group &group = groups[i];
    point[group.carrier] = {i ? code.rem(item, group.size) : item, 0, Value()};
    if (i)
      item = code.div(item, group.size);
  }
}

std::string cleave::getFailMessage(KernelOp kernel) {
  std::string message;
  kernel.getBody().walk([&](Operation *op) {
    auto refuseIndices = [&](auto op, RankedTensorType type) {
      std::string size = std::to_string(type.getDimSize(op.getDim()));
      message =
          "an index is out of range: expected -" + size + " <= index < " + size;
    };
    llvm::TypeSwitch<Operation *>(op)
        .Case<GatherOp, ScatterOp>(
            [&](auto op) { refuseIndices(op, op.getX().getType()); })
        .Case([&](GatherGradOp op) { refuseIndices(op, op.getType()); });
    if (!isa<CrossEntropyOp, CrossEntropyGradOp>(op))
      return;
    auto logits = cast<RankedTensorType>(op->getOperand(0).getType());
    message = "a label is out of range: expected 0 <= label < " +
              std::to_string(logits.getShape().back()) + " or ignore_index";
  });
  return message;
}

LogicalResult cleave::verifyTypes(KernelOp kernel) {
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

static View getView(Value base, Type type, BufferAttr buffer) {
  View view;
  view.base = base;
  view.element = cast<RankedTensorType>(type).getElementType();
  view.strides = llvm::to_vector(buffer.getStrides());
  return view;
}

void cleave::makeViews(Template &kernel, ArrayRef<Value> addresses,
                       ArrayRef<BufferAttr> operands,
                       ArrayRef<BufferAttr> results) {
  Block &body = kernel.op.getBody().front();
  auto next = addresses.begin();
  for (auto [argument, buffer] : llvm::zip(body.getArguments(), operands))
    kernel.views[argument] = getView(*next++, argument.getType(), buffer);
  for (auto [type, buffer] : llvm::zip(kernel.op.getResultTypes(), results))
    kernel.results.push_back(getView(*next++, type, buffer));
  for (auto constant : body.getOps<ConstantOp>())
    if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue()))
      if (!value.isSplat())
        kernel.views[constant.getResult()] =
            makeConstantView(kernel.code, value);
}

void cleave::forVectors(Code &code, Value from, Value to, bool hasTail,
                        function_ref<void(Value, Value)> body, int64_t lanes) {
  if (!hasTail) {
    code.loop(from, to, lanes, [&](Value i) { body(i, Value()); });
    return;
  }
  Value length = code.sub(to, from);
  Value whole = code.add(from, code.sub(length, code.rem(length, lanes)));
  code.loop(from, whole, lanes, [&](Value i) { body(i, Value()); });
  code.ifThen(code.less(whole, to),
              [&] { body(whole, code.laneMask(code.sub(to, whole), lanes)); });
}

int64_t cleave::getGrain(int64_t elements) {
  constexpr int64_t ElementsPerCall = 16384;
  return std::max<int64_t>(1, ElementsPerCall / std::max<int64_t>(1, elements));
}

//===-- Keys --------------------------------------------------------------===//

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

//===-- Pieces ------------------------------------------------------------===//

/// The part of `view` that starts at `low` along `dim`.
static View shifted(Code &code, View view, int64_t dim, int64_t low) {
  int64_t elements = low * view.strides[dim];
  view.base = code.address(view.base, getMemoryType(view.element),
                           code.index(elements));
  view.alignment =
      std::gcd(view.alignment, elements * getMemoryBytes(view.element));
  return view;
}

static SmallVector<Piece> splitConcat(Code &code, ConcatOp op,
                                      const View &target) {
  SmallVector<Piece> pieces;
  int64_t dim = op.getDim(), low = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    pieces.push_back({llvm::to_vector(type.getShape()),
                      {input},
                      {shifted(code, target, dim, low)}});
    low += type.getDimSize(dim);
  }
  return pieces;
}

/// The operand inside; per dim a low and a high border, which span the
/// operand's part of earlier dims and all of later ones.
static SmallVector<Piece> splitPad(Code &code, PadOp op, View target) {
  double fill = op.getValue().convertToDouble();
  SmallVector<int64_t> shape = llvm::to_vector(op.getType().getShape());
  SmallVector<Piece> pieces;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t size = op.getX().getType().getDimSize(dim);
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    shape[dim] = low;
    pieces.push_back({shape, {Value()}, {target}, fill});
    shape[dim] = high;
    pieces.push_back(
        {shape, {Value()}, {shifted(code, target, dim, low + size)}, fill});
    shape[dim] = size;
    target = shifted(code, target, dim, low);
  }
  pieces.push_back({shape, {op.getX()}, {target}});
  return pieces;
}

SmallVector<Piece> cleave::getPieces(Template &kernel) {
  auto yields = kernel.getYields();
  if (yields.size() == 1) {
    if (auto op = yields[0].getDefiningOp<ConcatOp>())
      return splitConcat(kernel.code, op, kernel.results[0]);
    if (auto op = yields[0].getDefiningOp<PadOp>())
      return splitPad(kernel.code, op, kernel.results[0]);
  }
  auto type = cast<RankedTensorType>(yields[0].getType());
  return {{llvm::to_vector(type.getShape()), llvm::to_vector(yields),
           kernel.results}};
}
