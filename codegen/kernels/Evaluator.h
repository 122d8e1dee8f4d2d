//===- Evaluator.h - code for one vector of a value of a kernel -----------===//
//
// The body of a kernel is read backwards from what it yields: `at(value,
// frame)` writes the code that computes `value` at a point, for one vector of
// lanes, loading only kernel operands. No intermediate tensor exists.
//
// A point has an index per dim of the value. An index is base + step * lane, so
// that the same code serves rows, columns, strided and repeated reads; a
// gathered index adds a vector.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_EVALUATOR_H
#define CLEAVE_CODEGEN_KERNELS_EVALUATOR_H

#include "codegen/kernels/Code.h"
#include "ir/Cleave.h"

#include <functional>

namespace cleave {

/// A strided tensor in memory: address of its first element, strides in
/// elements.
struct View {
  mlir::Value base;
  mlir::Type element;
  llvm::SmallVector<int64_t> strides;
  /// Bytes that the address is known to be a multiple of; 0: one element.
  int64_t alignment = 0;
};

/// base + step * lane + lanes[lane]; `lanes` may be null.
struct Index {
  mlir::Value base;
  int64_t step = 0;
  mlir::Value lanes;
  /// The base is known to be a multiple of it; 0: the base is 0.
  int64_t multiple = 1;

  bool isUniform() const { return step == 0 && !lanes; }
};

/// Where values are evaluated, and what is known there already. A frame must
/// not outlive the block in which it was made.
struct Frame {
  llvm::SmallVector<Index> point;
  mlir::Value mask; ///< null: all lanes
  llvm::DenseMap<mlir::Value, mlir::Value> known;
};

class Evaluator {
public:
  /// `lanes`: lanes of every vector. `errorCell`: see Kernels.h; may be null.
  Evaluator(Code &code, int64_t lanes, mlir::Value errorCell)
      : lanes(lanes), code(code), errorCell(errorCell) {}

  /// Asked first for every value that is no operand of the kernel; null: not
  /// known here. This is how templates give row ops their meaning.
  std::function<mlir::Value(mlir::Value, Frame &)> hook;
  llvm::DenseMap<mlir::Value, View> views;
  /// Whether an op without code was met; a diagnostic was emitted.
  bool failed = false;

  mlir::Value at(mlir::Value value, Frame &frame);
  mlir::Value load(const View &view, const Frame &frame);
  void store(mlir::Value value, const View &view, const Frame &frame);
  /// Lanes whose index is less than `limit`.
  mlir::Value lanesBelow(const Index &index, mlir::Value limit);
  /// The index as a vector of i64.
  mlir::Value indexVector(const Index &index);
  /// An element of `indices` as an index of a dim of `size`; negative ones
  /// count from the end. One that is out of range is reported, and read as 0.
  Index checkedIndex(mlir::Value indices, Frame &frame, int64_t size);
  /// Sets the error cell when `bad` is true in a lane of the mask.
  void reportIf(mlir::Value bad, const Frame &frame);
  mlir::VectorType typeOf(mlir::Value value);
  /// The neutral element of a reduction of elements like those of `value`.
  mlir::Value neutral(ReduceKind kind, mlir::Value value);

  const int64_t lanes;

private:
  mlir::Value evaluate(mlir::Value value, Frame &frame);
  mlir::Value evaluate(UnaryOp op, Frame &frame);
  mlir::Value evaluate(BinaryOp op, Frame &frame);
  mlir::Value evaluate(CastOp op, Frame &frame);
  mlir::Value evaluate(ConstantOp op, Frame &frame);
  mlir::Value evaluate(BroadcastOp op, Frame &frame);
  mlir::Value evaluate(TransposeOp op, Frame &frame);
  mlir::Value evaluate(SliceOp op, Frame &frame);
  mlir::Value evaluate(IotaOp op, Frame &frame);
  mlir::Value evaluate(GatherOp op, Frame &frame);
  mlir::Value evaluate(MaskOp op, Frame &frame);
  mlir::Value evaluate(TakeShardOp op, Frame &frame);
  /// This rank's index, a tensor<i64>, as a scalar.
  mlir::Value rankIndex(mlir::Value value, Frame &frame);
  mlir::Value raise(mlir::Value x, mlir::Value exponent, BinaryOp op);
  mlir::Value raiseInteger(mlir::Value x, mlir::Value exponent,
                           bool isUnsigned);

  Code &code;
  mlir::Value errorCell;
};

/// Converts between compute types; `from` and `to` are tensor element types.
mlir::Value convertElement(Code &code, mlir::Value value, mlir::Type from,
                           mlir::Type to);

/// A constant array of the module that holds `value`, and a view of it.
View makeConstantView(Code &code, mlir::DenseElementsAttr value);

} // namespace cleave

#endif
