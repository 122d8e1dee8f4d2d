//===- Operators.h - handlers of one value a lane -------------------------===//
//
// A class with a static `of` for the values of a lane becomes a handler:
//   struct Add { template <class T> static T of(T a, T b); };
//   handler<Add, uint32_t, 2>
//
//===----------------------------------------------------------------------===//
#pragma once

#include "exec/Half.h"
#include "exec/Warp.h"

namespace cudaemu {

/// d = Op::of(a, ...) with sources and result of type T.
template <class Op, class T, int Arity, unsigned PerLane = 1>
void handler(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a), *b = w.reg<T>(i.b), *c = w.reg<T>(i.c);
  writeLanes<PerLane>(w, w.reg<T>(i.d), [&](unsigned k) -> T {
    if constexpr (Arity == 1)
      return Op::of(a[k]);
    else if constexpr (Arity == 2)
      return Op::of(a[k], b[k]);
    else
      return Op::of(a[k], b[k], c[k]);
  });
}

template <class Op, int Arity> Handler integerHandler(ptx::Type type) {
  using enum ptx::Type;
  switch (type) {
  case S16:
    return handler<Op, int16_t, Arity>;
  case U16:
  case B16:
    return handler<Op, uint16_t, Arity>;
  case S32:
    return handler<Op, int32_t, Arity>;
  case U32:
  case B32:
    return handler<Op, uint32_t, Arity>;
  case S64:
    return handler<Op, int64_t, Arity>;
  case U64:
  case B64:
    return handler<Op, uint64_t, Arity>;
  default:
    return nullptr;
  }
}

template <class Op, int Arity> Handler floatHandler(ptx::Type type) {
  using enum ptx::Type;
  switch (type) {
  case F32:
    return handler<Op, float, Arity>;
  case F64:
    return handler<Op, double, Arity>;
  case F16:
    return handler<Op, Half, Arity>;
  case F16x2:
    return handler<Op, Half, Arity, 2>;
  case BF16:
    return handler<Op, BFloat, Arity>;
  case BF16x2:
    return handler<Op, BFloat, Arity, 2>;
  default:
    return nullptr;
  }
}

} // namespace cudaemu
