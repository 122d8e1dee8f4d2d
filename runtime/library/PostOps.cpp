//===- PostOps.cpp - what follows a product or convolution ----------------===//
//
// The pass walks rows (all dims but the last) in the order of threads and does
// a row step by step. It is for the rare shapes that oneDNN's fast code
// refuses.
//
//===----------------------------------------------------------------------===//

#include "runtime/library/PostOps.h"

#include "runtime/Threads.h"
#include "runtime/support/Error.h"

#include <algorithm>
#include <cmath>

namespace cleave::rt {

void appendPostOp(dnnl::post_ops &ops, int32_t kind,
                  const dnnl::memory::desc &operand) {
  using dnnl::algorithm;
  auto eltwise = [&](algorithm function, float alpha = 0.f) {
    ops.append_eltwise(1.f, function, alpha, 0.f);
  };
  switch (kind) {
  case CLEAVE_POST_ADD:
    return ops.append_binary(algorithm::binary_add, operand);
  case CLEAVE_POST_MUL:
    return ops.append_binary(algorithm::binary_mul, operand);
  case CLEAVE_POST_GELU_ERF:
    return eltwise(algorithm::eltwise_gelu_erf);
  case CLEAVE_POST_GELU_TANH:
    return eltwise(algorithm::eltwise_gelu_tanh);
  case CLEAVE_POST_RELU:
    return eltwise(algorithm::eltwise_relu);
  case CLEAVE_POST_SIGMOID:
    return eltwise(algorithm::eltwise_logistic);
  case CLEAVE_POST_TANH:
    return eltwise(algorithm::eltwise_tanh);
  case CLEAVE_POST_SILU:
    return eltwise(algorithm::eltwise_swish, 1.f);
  }
  fail(ExitPlan, "unknown post-operation {}", kind);
}

static float sigmoid(float x) { return 1.f / (1.f + std::exp(-x)); }

static float evaluate(int32_t kind, float x, float operand) {
  switch (kind) {
  case CLEAVE_POST_ADD:
    return x + operand;
  case CLEAVE_POST_MUL:
    return x * operand;
  case CLEAVE_POST_GELU_ERF:
    return 0.5f * x * (1.f + std::erf(x * 0.70710678f));
  case CLEAVE_POST_GELU_TANH:
    return 0.5f * x *
           (1.f + std::tanh(0.79788456f * x * (1.f + 0.044715f * x * x)));
  case CLEAVE_POST_RELU:
    return std::max(x, 0.f);
  case CLEAVE_POST_SIGMOID:
    return sigmoid(x);
  case CLEAVE_POST_TANH:
    return std::tanh(x);
  default:
    return x * sigmoid(x);
  }
}

namespace {
struct ElementwisePass {
  float *data;
  const std::vector<int64_t> &dims;
  const std::vector<int64_t> &strides;
  const std::vector<ElementwiseStep> &steps;
  int64_t rows;
  int threads;

  int64_t rowOffset(int64_t row, const std::vector<int64_t> &by) const {
    int64_t offset = 0;
    for (size_t d = dims.size() - 1; d-- > 0; row /= dims[d])
      offset += row % dims[d] * by[d];
    return offset;
  }

  void runRow(int64_t row) const {
    float *values = data + rowOffset(row, strides);
    int64_t stride = strides.back();
    for (const ElementwiseStep &step : steps) {
      const float *operand =
          step.operand ? step.operand + rowOffset(row, step.strides) : nullptr;
      for (int64_t i = 0; i < dims.back(); ++i)
        values[i * stride] =
            evaluate(step.kind, values[i * stride],
                     operand ? operand[i * step.strides.back()] : 0.f);
    }
  }
};
} // namespace

void applyElementwise(float *data, const std::vector<int64_t> &dims,
                      const std::vector<int64_t> &strides,
                      const std::vector<ElementwiseStep> &steps, int threads) {
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < dims.size(); ++d)
    rows *= dims[d];
  ElementwisePass pass{data, dims, strides, steps, rows, threads};
  auto part = [](void *shared) {
    const auto &pass = *static_cast<const ElementwisePass *>(shared);
    int index = pass.threads == 1 ? 0 : threadIndex();
    ThreadRange range = threadRange(pass.rows, index, pass.threads);
    for (int64_t row = range.begin; row < range.end; ++row)
      pass.runRow(row);
  };
  runThreads(threads, part, &pass);
}

} // namespace cleave::rt
