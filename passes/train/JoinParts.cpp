//===- JoinParts.cpp - sum gradients that came from parts of a value ------===//

#include "passes/train/JoinParts.h"

#include "ir/Cleave.h"
#include "ir/LogicalBuilder.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>

using namespace cleave;
using namespace mlir;

namespace {
/// Elements [low, low + size) of the dim along which zeros are around `value`.
struct Part {
  PadOp pad;
  int64_t low, size;
  int64_t getEnd() const { return low + size; }
};
} // namespace

/// The only dim along which `op` pads; -1 if there are more.
static int64_t getPaddedDim(PadOp op) {
  int64_t found = -1;
  for (auto [dim, low, high] : llvm::enumerate(op.getLow(), op.getHigh())) {
    if (low == 0 && high == 0)
      continue;
    if (found >= 0)
      return -1;
    found = dim;
  }
  return found;
}

/// The parts along one dim, in order; none if they overlap or are something
/// else.
static std::optional<SmallVector<Part>> findParts(ArrayRef<Value> values,
                                                  int64_t &dim) {
  SmallVector<Part> parts;
  for (Value value : values) {
    auto pad = value.getDefiningOp<PadOp>();
    if (!pad || !pad.getValue().isZero() || getPaddedDim(pad) < 0)
      return std::nullopt;
    if (!parts.empty() && getPaddedDim(pad) != dim)
      return std::nullopt;
    dim = getPaddedDim(pad);
    parts.push_back(
        {pad, pad.getLow()[dim], pad.getX().getType().getDimSize(dim)});
  }
  llvm::sort(parts, [](const Part &a, const Part &b) { return a.low < b.low; });
  for (size_t i = 1; i < parts.size(); ++i)
    if (parts[i].low < parts[i - 1].getEnd())
      return std::nullopt;
  return parts;
}

/// Parts and the zeros between them, side by side.
static Value join(LogicalBuilder &b, ArrayRef<Part> parts, int64_t dim) {
  PadOp first = parts.front().pad;
  RankedTensorType type = first.getType();
  SmallVector<Value> pieces;
  int64_t end = 0;
  auto fill = [&](int64_t until) {
    if (until == end)
      return;
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = until - end;
    pieces.push_back(b.splat(type.clone(shape), 0));
  };
  for (Part part : parts) {
    fill(part.low);
    pieces.push_back(part.pad.getX());
    end = part.getEnd();
  }
  fill(type.getDimSize(dim));
  return b.b.create<ConcatOp>(b.loc, pieces, dim);
}

Value cleave::buildSum(OpBuilder &builder, Location loc,
                       ArrayRef<Value> values) {
  LogicalBuilder b(builder, loc);
  int64_t dim = -1;
  if (values.size() > 1)
    if (auto parts = findParts(values, dim))
      return join(b, *parts, dim);
  Value sum = values.front();
  for (Value next : values.drop_front())
    sum = b.add(sum, next);
  return sum;
}
