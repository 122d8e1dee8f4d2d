//===- PoolWindows.cpp - what all ways to pool share ----------------------===//

#include "codegen/kernels/PoolWindows.h"

using namespace cleave;
using namespace mlir;

std::pair<Value, Value> cleave::getTaps(Code &code, const PoolWindow &window,
                                        Value start, int64_t end) {
  auto below = [&](int64_t limit) {
    Value rest = code.max(code.sub(code.index(limit), start), code.index(0));
    Value count =
        code.div(code.add(rest, window.dilation - 1), window.dilation);
    return code.min(count, code.index(window.kernel));
  };
  return {below(0), below(end)};
}

Value cleave::countTaps(Code &code, bool includePad, const PoolWindow &window,
                        Value start) {
  auto [from, to] = getTaps(code, window, start,
                            window.size + (includePad ? window.high : 0));
  return includePad ? to : code.sub(to, from);
}

Value cleave::divideByCount(Code &code, Value sum, Value count) {
  Type type = cast<VectorType>(sum.getType()).getElementType();
  Value atLeastOne = code.max(count, code.constant(count.getType(), 1.0));
  return code.b.create<arith::DivFOp>(
      code.loc, sum,
      convertElement(code, atLeastOne, code.b.getI64Type(), type));
}
