//===- Templates.cpp - vectors of a range
//-----------------------------------===//

#include "codegen/cpu/kernels/Templates.h"

using namespace cleave;
using namespace mlir;

Code::Values cleave::foldVectors(
    Code &code, int64_t size, ValueRange init,
    function_ref<Code::Values(Value, Value, ValueRange)> body,
    function_ref<Code::Values(ValueRange, ValueRange)> combine) {
  constexpr int64_t Chains = 4;
  int64_t width = init.size();
  int64_t vectors = size / Lanes;
  int64_t rounds = vectors / Chains;
  Code::Values carried(init);
  if (rounds > 1) {
    Code::Values chains;
    for (int64_t chain = 0; chain < Chains; ++chain)
      llvm::append_range(chains, init);
    chains =
        code.loop(code.index(0), code.index(rounds * Chains * Lanes),
                  Chains * Lanes, chains, [&](Value base, ValueRange all) {
                    Code::Values next;
                    for (int64_t chain = 0; chain < Chains; ++chain)
                      llvm::append_range(
                          next, body(code.add(base, chain * Lanes), Value(),
                                     all.slice(chain * width, width)));
                    return next;
                  });
    carried.assign(chains.begin(), chains.begin() + width);
    for (int64_t chain = 1; chain < Chains; ++chain)
      carried =
          combine(carried, ValueRange(chains).slice(chain * width, width));
  } else {
    rounds = 0;
  }
  for (int64_t i = rounds * Chains; i < vectors; ++i)
    carried = body(code.index(i * Lanes), Value(), carried);
  if (size % Lanes)
    carried = body(code.index(vectors * Lanes),
                   code.laneMask(code.index(size % Lanes)), carried);
  return carried;
}
