//===- TopKKernel.cpp - the k best of each row ----------------------------===//
//
// An item is one row. Its k best elements so far are a heap in the thread's
// scratch, with the worst one at the root: an element that is better takes its
// place. In the end the heap is emptied, worst first, into the result's row
// from the back. n elements take n + r log k steps, r of them replacing the
// root.
//
// Elements are compared by keys: i64 numbers in the order of the elements, for
// the smallest elements in the reverse order.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Template.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace cleave;
using namespace mlir;

namespace {
/// An element of the row: a smaller key, then a larger index is worse.
struct Entry {
  Value key, index;
};

class TopKWriter {
public:
  TopKWriter(Template &kernel, TopKOp op)
      : kernel(kernel), op(op), code(kernel.code),
        evaluator(kernel.makeEvaluator(1)), dim(op.getDim()) {}
  FailureOr<KernelPlan> write();

private:
  void writeItem(Value item);
  Value getKey(ArrayRef<Index> point);
  Value getFloatKey(Value x);
  Value isWorse(const Entry &x, const Entry &y);
  Entry load(Value position);
  void store(const Entry &entry, Value position);
  void sift(const Entry &entry, Value size);
  Value at(bool isIndex, Value position);
  template <typename OpTy> Value make(Value x, Value y) {
    return code.b.create<OpTy>(code.loc, x, y);
  }

  Template &kernel;
  TopKOp op;
  Code &code;
  Evaluator evaluator;
  int64_t dim;
};
} // namespace

//===-- Keys --------------------------------------------------------------===//

/// The bits of a float as a signed integer, those below the sign turned over
/// for negative numbers, are in the order of the floats. -0 is 0, NaN largest.
Value TopKWriter::getFloatKey(Value x) {
  Type type = x.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type bitsType = code.b.getIntegerType(width);
  Value zero = code.constant(type, 0.0);
  Value isZero = code.b.create<arith::CmpFOp>(
      code.loc, arith::CmpFPredicate::OEQ, x, zero);
  Value isNaN =
      code.b.create<arith::CmpFOp>(code.loc, arith::CmpFPredicate::UNO, x, x);
  x = code.select(isZero, zero, x);
  Value bits = code.b.create<arith::BitcastOp>(code.loc, bitsType, x);
  auto c = [&](const APInt &value) {
    return code.constant(bitsType, code.b.getIntegerAttr(bitsType, value));
  };
  Value sign = make<arith::ShRSIOp>(bits, c(APInt(width, width - 1)));
  Value most = c(APInt::getSignedMaxValue(width));
  Value key = make<arith::XOrIOp>(bits, make<arith::AndIOp>(sign, most));
  return code.select(isNaN, most, key);
}

Value TopKWriter::getKey(ArrayRef<Index> point) {
  Frame frame;
  frame.point.assign(point.begin(), point.end());
  Value key = code.extract(evaluator.at(op.getX(), frame), 0);
  Type element = op.getX().getType().getElementType();
  Type i64 = code.b.getI64Type();
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  if (isa<FloatType>(element))
    key = getFloatKey(key);
  if (key.getType().getIntOrFloatBitWidth() < 64)
    key = isUnsigned
              ? code.b.create<arith::ExtUIOp>(code.loc, i64, key).getResult()
              : code.b.create<arith::ExtSIOp>(code.loc, i64, key).getResult();
  else if (isUnsigned)
    key = make<arith::XOrIOp>(key,
                              code.index(std::numeric_limits<int64_t>::min()));
  return op.getLeast() ? make<arith::XOrIOp>(key, code.index(-1)) : key;
}

Value TopKWriter::isWorse(const Entry &x, const Entry &y) {
  Value isEqual = code.b.create<arith::CmpIOp>(
      code.loc, arith::CmpIPredicate::eq, x.key, y.key);
  Value isLater = make<arith::AndIOp>(isEqual, code.less(y.index, x.index));
  return make<arith::OrIOp>(code.less(x.key, y.key), isLater);
}

//===-- Heap --------------------------------------------------------------===//

/// Address of a key or an index; all keys come first.
Value TopKWriter::at(bool isIndex, Value position) {
  int64_t first = isIndex ? op.getK() : 0;
  return code.address(kernel.scratch, code.b.getI64Type(),
                      code.add(position, first));
}

Entry TopKWriter::load(Value position) {
  Type i64 = code.b.getI64Type();
  return {code.loadScalar(at(false, position), i64),
          code.loadScalar(at(true, position), i64)};
}

void TopKWriter::store(const Entry &entry, Value position) {
  Type i64 = code.b.getI64Type();
  code.storeScalar(entry.key, at(false, position), i64);
  code.storeScalar(entry.index, at(true, position), i64);
}

/// Puts `entry` into a heap of `size` whose root is free: from the root down,
/// the worse child moves up as long as it is worse than the entry.
void TopKWriter::sift(const Entry &entry, Value size) {
  Type i64 = code.b.getI64Type();
  Value end = code.max(code.sub(size, code.index(1)), code.index(0));
  auto loop = code.b.create<scf::WhileOp>(
      code.loc, TypeRange{i64, i64, i64, i64}, ValueRange{code.index(0)},
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value left = code.add(code.mul(arguments[0], 2), 1);
        Value near = code.min(left, end);
        Value far = code.min(code.add(left, 1), end);
        Entry x = load(near), y = load(far);
        Value takesNear = isWorse(x, y);
        Value child = code.select(takesNear, near, far);
        Entry worse{code.select(takesNear, x.key, y.key),
                    code.select(takesNear, x.index, y.index)};
        Value moves =
            make<arith::AndIOp>(code.less(left, size), isWorse(worse, entry));
        b.create<scf::ConditionOp>(
            loc, moves,
            ValueRange{arguments[0], child, worse.key, worse.index});
      },
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        store({arguments[2], arguments[3]}, arguments[0]);
        b.create<scf::YieldOp>(loc, arguments[1]);
      });
  store(entry, loop.getResult(0));
}

//===-- Rows --------------------------------------------------------------===//

void TopKWriter::writeItem(Value item) {
  ArrayRef<int64_t> shape = op.getX().getType().getShape();
  SmallVector<Index> point = getOrigin(code, shape.size());
  SmallVector<Group> outer;
  for (int64_t i = 0, rank = shape.size(); i < rank; ++i)
    if (i != dim)
      outer.push_back({shape[i], i});
  setPoint(code, point, outer, item);
  Value zero = code.index(0), k = code.index(op.getK());
  Entry none{code.index(std::numeric_limits<int64_t>::min()),
             code.index(std::numeric_limits<int64_t>::max())};
  code.loop(zero, k, 1, [&](Value i) { store(none, i); });
  code.loop(zero, code.index(shape[dim]), 1, [&](Value i) {
    point[dim] = {i, 0, Value()};
    Entry entry{getKey(point), i};
    code.ifThen(isWorse(load(zero), entry), [&] { sift(entry, k); });
  });
  code.loop(zero, k, 1, [&](Value i) {
    Value last = code.sub(code.index(op.getK() - 1), i);
    Frame frame;
    frame.point = point;
    frame.point[dim] = {last, 0, Value()};
    Value index = code.splat(load(zero).index, 1);
    evaluator.store(index, kernel.results[0], frame);
    sift(load(last), last);
  });
}

FailureOr<KernelPlan> TopKWriter::write() {
  int64_t elements = op.getX().getType().getDimSize(dim), k = op.getK();
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) { writeItem(item); });
  if (evaluator.failed)
    return failure();
  int64_t bytes = llvm::alignTo(2 * k * int64_t(sizeof(int64_t)), 64);
  int64_t items = k ? op.getType().getNumElements() / k : 0;
  return KernelPlan{items, getGrain(elements), bytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildTopKKernel(Template &kernel, TopKOp op) {
  return TopKWriter(kernel, op).write();
}
