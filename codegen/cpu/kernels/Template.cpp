//===- Template.cpp - what the kernel templates share ---------------------===//

#include "codegen/cpu/kernels/Template.h"

using namespace cleave;
using namespace mlir;

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
  return SmallVector<Index>(rank, Index{code.index(0), 0, Value()});
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

void cleave::forVectors(Code &code, Value from, Value to, bool hasTail,
                        function_ref<void(Value, Value)> body) {
  if (!hasTail) {
    code.loop(from, to, Lanes, [&](Value i) { body(i, Value()); });
    return;
  }
  Value length = code.sub(to, from);
  Value whole = code.add(from, code.sub(length, code.rem(length, Lanes)));
  code.loop(from, whole, Lanes, [&](Value i) { body(i, Value()); });
  code.ifThen(code.less(whole, to),
              [&] { body(whole, code.laneMask(code.sub(to, whole))); });
}

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

int64_t cleave::getGrain(int64_t elements) {
  constexpr int64_t ElementsPerCall = 16384;
  return std::max<int64_t>(1, ElementsPerCall / std::max<int64_t>(1, elements));
}
