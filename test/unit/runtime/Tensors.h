//===- Tensors.h - small tensors for tests of library operations ----------===//

#ifndef CLEAVE_TEST_UNIT_RUNTIME_TENSORS_H
#define CLEAVE_TEST_UNIT_RUNTIME_TENSORS_H

#include "runtime/Abi.h"

#include <cmath>
#include <vector>

namespace cleave::test {

using Sizes = std::vector<int64_t>;

inline CleaveTensorDesc strided(const Sizes &dims, const Sizes &strides) {
  CleaveTensorDesc desc{};
  desc.dtype = CLEAVE_F32;
  desc.rank = static_cast<int32_t>(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    desc.dims[d] = dims[d];
    desc.strides[d] = strides[d];
  }
  return desc;
}

inline CleaveTensorDesc dense(const Sizes &dims) {
  Sizes strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return strided(dims, strides);
}

/// A product followed by additions of `added`.
inline CleaveMatmulDesc
product(const CleaveTensorDesc &a, const CleaveTensorDesc &b,
        const CleaveTensorDesc &c,
        const std::vector<CleaveTensorDesc> &added = {}) {
  CleaveMatmulDesc desc{};
  desc.a = a;
  desc.b = b;
  desc.c = c;
  for (const CleaveTensorDesc &operand : added)
    desc.postOps[desc.postOpCount++] = {CLEAVE_POST_ADD, operand};
  return desc;
}

/// Elements from the first to the last that a view touches.
inline int64_t extentOf(const CleaveTensorDesc &desc) {
  int64_t last = 0;
  for (int d = 0; d < desc.rank; ++d)
    last += (desc.dims[d] - 1) * desc.strides[d];
  return last + 1;
}

/// Offset of `index` (of a tensor of `rank` dims) in an operand that is aligned
/// to the right and broadcast where its dim is 1.
inline int64_t offsetAt(const CleaveTensorDesc &desc, const Sizes &index) {
  int64_t offset = 0;
  for (int d = 0; d < desc.rank; ++d)
    if (desc.dims[d] != 1)
      offset += index[index.size() - desc.rank + d] * desc.strides[d];
  return offset;
}

/// The next index of a tensor of `dims`; false after the last.
inline bool advance(Sizes &index, const int64_t *dims) {
  for (size_t d = index.size(); d-- > 0; index[d] = 0)
    if (++index[d] < dims[d])
      return true;
  return false;
}

/// Reproducible values between -1 and 1.
inline std::vector<float> someValues(int64_t count, unsigned seed) {
  std::vector<float> values(count);
  uint32_t state = seed * 747796405u + 2891336453u;
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 8388608.f - 1.f;
  }
  return values;
}

/// The textbook formula of a post-operation, in double.
inline double reference(int32_t kind, double x, double operand) {
  switch (kind) {
  case CLEAVE_POST_ADD:
    return x + operand;
  case CLEAVE_POST_MUL:
    return x * operand;
  case CLEAVE_POST_GELU_ERF:
    return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  case CLEAVE_POST_GELU_TANH:
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case CLEAVE_POST_RELU:
    return x > 0 ? x : 0;
  case CLEAVE_POST_SIGMOID:
    return 1 / (1 + std::exp(-x));
  case CLEAVE_POST_TANH:
    return std::tanh(x);
  default:
    return x / (1 + std::exp(-x));
  }
}

} // namespace cleave::test

#endif
