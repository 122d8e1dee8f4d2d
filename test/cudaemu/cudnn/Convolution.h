//===- Convolution.h - a convolution as it runs ---------------------------===//
#pragma once

#include "abi/Cudnn.h"
#include "driver/Driver.h"
#include "library/Elements.h"

namespace cudaemu {

struct Convolution {
  enum Kind { Forward, BackwardData, BackwardFilter } kind;
  cudnn::ConvolutionDescriptor descriptor;
  /// The three tensors of all kinds: two are read, the one that the kind makes
  /// is written.
  cudnn::Tensor x, w, y;
  uint64_t addressX, addressW, addressY;
  float alpha, beta;
  uint64_t workspace, workspaceBytes;

  // Of the fused forward one: act(alpha conv + alphaZ z + bias).
  bool isFused = false;
  cudnn::Tensor z, bias;
  uint64_t addressZ = 0, addressBias = 0;
  float alphaZ = 0;
  cudnn::ActivationDescriptor activation;

  int64_t groups() const { return descriptor.groups; }
  size_t spatial() const { return x.dims.size() - 2; }
};

/// What is wrong with it, or an empty text.
std::string problem(const Convolution &convolution);
void run(const Convolution &convolution, Context &context, Work &work);

/// A tensor in the order of its dimensions, and back.
std::vector<float> take(Context &context, const Work &work,
                        const cudnn::Tensor &tensor, uint64_t address);
void put(Context &context, const Work &work, const cudnn::Tensor &tensor,
         uint64_t address, const std::vector<float> &from);
int64_t elements(const cudnn::Tensor &tensor);
/// The size of the result in a spatial dimension.
int64_t outputSize(const Convolution &convolution, size_t dim);

} // namespace cudaemu
