//===- PostOps.h - what follows a product or convolution ------------------===//
//
// As oneDNN attributes where its fast code takes them, else as a pass over the
// result.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_LIBRARY_POSTOPS_H
#define CLEAVE_RUNTIME_LIBRARY_POSTOPS_H

#include "runtime/Abi.h"

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

namespace cleave::rt {

inline bool hasOperand(int32_t kind) {
  return kind == CLEAVE_POST_ADD || kind == CLEAVE_POST_MUL;
}

/// Appends a post-operation; `operand` is used where the kind has one. Throws
/// Failure (ExitPlan) for an unknown kind.
void appendPostOp(dnnl::post_ops &ops, int32_t kind,
                  const dnnl::memory::desc &operand);

/// One post-operation of a pass over a tensor: operand strides per dim of that
/// tensor, 0 where it is broadcast.
struct ElementwiseStep {
  int32_t kind;
  const float *operand;
  std::vector<int64_t> strides;
};

/// Applies the steps in order to each element of a strided tensor.
void applyElementwise(float *data, const std::vector<int64_t> &dims,
                      const std::vector<int64_t> &strides,
                      const std::vector<ElementwiseStep> &steps, int threads);

} // namespace cleave::rt

#endif
