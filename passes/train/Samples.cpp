//===- Samples.cpp - which samples of a batch count -----------------------===//

#include "passes/train/Samples.h"

#include "passes/train/Settings.h"

#include "ir/Cleave.h"

using namespace cleave;
using namespace mlir;

int64_t cleave::getBatch(func::FuncOp main) {
  for (Value input : main.getArguments())
    if (getTensorType(input).getRank() > 0)
      return getTensorType(input).getDimSize(0);
  return 0;
}

bool cleave::hasSamples(RankedTensorType type, int64_t batch) {
  return type.getRank() > 0 && batch > 0 && type.getDimSize(0) % batch == 0;
}

Samples::Samples(LogicalBuilder &b, ModuleOp module, RankedTensorType type,
                 int64_t batch)
    : b(b), batch(batch) {
  if (!hasSamples(type, batch))
    return;
  count = Settings(module).load(b, "samples", 0, static_cast<double>(batch));
  Type integer = b.b.getI64Type();
  Value rows = b.mul(count, static_cast<double>(type.getDimSize(0) / batch));
  Value places =
      b.iota(RankedTensorType::get(type.getShape(), integer), /*dim=*/0);
  mask = b.compare(CompareKind::Lt, places,
                   b.repeat(b.cast(rows, integer), type.getShape(), {}));
}

Value Samples::select(Value x, double other) {
  return mask ? b.select(mask, x, b.splat(x, other)) : x;
}

Value Samples::getMean(Value x) {
  RankedTensorType type = getTensorType(x);
  auto elements =
      static_cast<double>(std::max<int64_t>(type.getNumElements(), 1));
  Value sum = b.sum(select(x, 0), getDims(0, type.getRank()));
  if (!mask)
    return b.mul(sum, 1.0 / elements);
  Value counted = b.mul(count, elements / static_cast<double>(batch));
  return b.div(sum, b.cast(counted, type.getElementType()));
}
