//===- ResizeTaps.cpp - what an element of a resized dim reads ------------===//

#include "codegen/kernels/ResizeTaps.h"

#include "ir/ResizeTaps.h"

using namespace cleave;
using namespace mlir;

SmallVector<int64_t> cleave::getResizedDims(ResizeOp op) {
  SmallVector<int64_t> resized = op.getResizedDims();
  if (resized.empty())
    resized.push_back(op.getType().getRank() - 1);
  return resized;
}

SmallVector<TapViews> cleave::makeTapViews(Code &code, ResizeOp op,
                                           int64_t dim) {
  Type computed = getComputeType(op.getType().getElementType());
  Type type = isa<FloatType>(computed) ? computed : code.b.getF32Type();
  ResizeTaps taps = getResizeTaps(op, dim);
  SmallVector<TapViews> views;
  for (int64_t tap = 0; tap < taps.count; ++tap) {
    int64_t size = taps.indices[tap].size();
    auto indices = DenseElementsAttr::get(
        RankedTensorType::get({size}, code.b.getI64Type()),
        ArrayRef<int64_t>(taps.indices[tap]));
    SmallVector<Attribute> weights;
    for (double weight : taps.weights[tap])
      weights.push_back(code.b.getFloatAttr(type, weight));
    views.push_back(
        {makeConstantView(code, indices),
         makeConstantView(
             code, DenseElementsAttr::get(RankedTensorType::get({size}, type),
                                          ArrayRef<Attribute>(weights)))});
  }
  return views;
}
