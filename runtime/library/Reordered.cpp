//===- Reordered.cpp - tensors in a layout that oneDNN chose --------------===//

#include "runtime/library/Reordered.h"

#include <array>

namespace cleave::rt {

void Reordered::prepare(DnnlState &state, const dnnl::memory::desc &plainDesc,
                        const dnnl::memory::desc &innerDesc, Direction toward) {
  plain = plainDesc;
  inner = innerDesc;
  direction = toward;
  if (!needed())
    return;
  const dnnl::memory::desc &from = direction == Inward ? plain : inner;
  const dnnl::memory::desc &to = direction == Inward ? inner : plain;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc desc(state.engine, from, state.engine, to,
                                     attr);
  reorder =
      PreparedPrimitive(dnnl::reorder(desc), desc.scratchpad_desc(), state,
                        {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  buffer = AlignedBuffer(inner.get_size());
}

void Reordered::run(DnnlState &state, const void *given) {
  std::array<const void *, 2> addresses = {given, buffer.data()};
  if (direction == Outward)
    std::swap(addresses[0], addresses[1]);
  reorder.run(state, addresses);
}

void ReorderedWeight::makeScaled(const void *given) {
  scaled = AlignedBuffer(plainBytes());
  size_t row = plainBytes() / sizeof(float) / rowFactors.size();
  const auto *from = static_cast<const float *>(given);
  auto *to = reinterpret_cast<float *>(scaled.data());
  for (float factor : rowFactors)
    for (size_t i = 0; i < row; ++i)
      *to++ = factor * *from++;
}

const void *ReorderedWeight::get(CleaveContext &context, const void *given) {
  bool isScaled = !rowFactors.empty();
  if ((needed() || isScaled) &&
      (current != given || !context.isConstant(given))) {
    if (isScaled)
      makeScaled(given);
    if (needed()) {
      run(*context.dnnl, isScaled ? scaled.data() : given);
      scaled = AlignedBuffer();
    }
    context.releaseConstant(given, plainBytes());
  }
  current = given;
  return innerAddress(isScaled ? scaled.data() : given);
}

} // namespace cleave::rt
