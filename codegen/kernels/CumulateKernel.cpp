//===- CumulateKernel.cpp - reductions of prefixes ------------------------===//
//
// An item is a walk along the cumulated dim, in order. Where another dim is the
// last one, a vector of its indices walks together.
//
//===----------------------------------------------------------------------===//

#include "codegen/kernels/Template.h"

using namespace cleave;
using namespace mlir;

FailureOr<KernelPlan> cleave::buildCumulateKernel(Template &kernel,
                                                  CumulateOp op) {
  Code &code = kernel.code;
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t rank = shape.size(), dim = op.getDim(), last = rank - 1;
  bool isVector = last != dim;
  SmallVector<Group> outer;
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      outer.push_back(
          {isVector && i == last
               ? static_cast<int64_t>(llvm::divideCeil(shape[i], kernel.lanes))
               : shape[i],
           i});
  Evaluator evaluator = kernel.makeEvaluator(isVector ? kernel.lanes : 1);
  code.loop(kernel.begin, kernel.end, 1, [&](Value item) {
    SmallVector<Index> point = getOrigin(code, rank);
    setPoint(code, point, outer, item);
    Value mask;
    if (isVector) {
      Value base = code.mul(point[last].base, kernel.lanes);
      point[last] = {base, 1, Value()};
      if (shape[last] % kernel.lanes)
        mask = code.laneMask(code.sub(code.index(shape[last]), base),
                             kernel.lanes);
    }
    Value neutral = evaluator.neutral(op.getKind(), op.getX());
    code.loop(code.index(0), code.index(shape[dim]), 1, neutral,
              [&](Value i, ValueRange carried) -> Code::Values {
                Value end = code.index(shape[dim] - 1);
                Frame frame;
                frame.mask = mask;
                frame.point = point;
                frame.point[dim].base = op.getReverse() ? code.sub(end, i) : i;
                Value next =
                    buildCombine(code.b, code.loc, op.getKind(),
                                 op.getType().getElementType(), carried[0],
                                 evaluator.at(op.getX(), frame));
                evaluator.store(op.getExclusive() ? carried[0] : next,
                                kernel.results[0], frame);
                return {next};
              });
  });
  if (evaluator.failed)
    return failure();
  int64_t items = getCount(outer);
  return KernelPlan{shape[dim] ? items : 0,
                    getGrain(shape[dim] * evaluator.lanes), 0, false, ""};
}
