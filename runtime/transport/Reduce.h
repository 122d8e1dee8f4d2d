//===- Reduce.h - combine buffers in a fixed order ------------------------===//
#ifndef CLEAVE_RUNTIME_TRANSPORT_REDUCE_H
#define CLEAVE_RUNTIME_TRANSPORT_REDUCE_H

#include "runtime/Abi.h"

#include <span>

namespace cleave::rt {

/// out[i] = parts[0][i] op parts[1][i] op ..., from left to right. Half types
/// accumulate in float and round once. `out` may be one of `parts`.
void reduceInOrder(std::span<const void *const> parts, void *out, int64_t count,
                   int32_t dtype, int32_t reduction);

} // namespace cleave::rt

#endif
