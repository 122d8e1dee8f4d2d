//===- Cudnn.h - the part of cuDNN that the emulator has ------------------===//
//
// The convolution API, declared from the public ABI; AbiCheck.cpp compares with
// cudnn.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "abi/Cuda.h"

#include <vector>

namespace cudnn {

enum Status {
  Success = 0,
  NotInitialized = 1001,
  BadParam = 2000,
  NotSupported = 3000,
  ExecutionFailed = 5000,
};
enum DataType { Float = 0, Double = 1, Half = 2, BFloat16 = 9 };
enum Format { Nchw = 0, Nhwc = 1 };
enum Mode { Convolve = 0, CrossCorrelate = 1 };
enum MathType {
  DefaultMath = 0,
  TensorOpMath = 1,
  TensorOpMathAllowConversion = 2,
  FmaMath = 3,
};
enum Activation {
  Sigmoid = 0,
  Relu = 1,
  Tanh = 2,
  ClippedRelu = 3,
  Identity = 5,
};
enum ForwardAlgorithm { ImplicitGemm = 0, ImplicitPrecompGemm = 1 };
enum BackwardAlgorithm { Algorithm0 = 0, Algorithm1 = 1 };

/// What is behind the opaque descriptors. Dimensions of tensors and filters are
/// those of NCHW and KCHW, whatever their order in memory, which strides give.
struct Tensor {
  int type = Float;
  std::vector<int64_t> dims, strides;
};
struct ConvolutionDescriptor {
  std::vector<int64_t> pads, strides, dilations;
  int mode = CrossCorrelate, computeType = Float, groups = 1;
  int mathType = DefaultMath;
};
struct ActivationDescriptor {
  int mode = Relu;
  double coefficient = 0;
};
struct Handle {
  cuda::StreamHandle stream = nullptr;
};
/// Of the forward and both backward algorithms.
struct AlgorithmPerformance {
  int algorithm, status;
  float time;
  size_t memory;
  int determinism, mathType, reserved[3];
};

} // namespace cudnn

#ifndef CUDAEMU_TYPES_ONLY // the headers of a toolkit have the rest
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
size_t cudnnGetVersion();
const char *cudnnGetErrorString(int status);
int cudnnCreate(cudnn::Handle **handle);
int cudnnDestroy(cudnn::Handle *handle);
int cudnnSetStream(cudnn::Handle *handle, cuda::StreamHandle stream);
int cudnnCreateTensorDescriptor(cudnn::Tensor **tensor);
int cudnnDestroyTensorDescriptor(cudnn::Tensor *tensor);
int cudnnSetTensor4dDescriptor(cudnn::Tensor *tensor, int format, int type,
                               int n, int c, int h, int w);
int cudnnSetTensorNdDescriptor(cudnn::Tensor *tensor, int type, int count,
                               const int *dims, const int *strides);
int cudnnCreateFilterDescriptor(cudnn::Tensor **filter);
int cudnnDestroyFilterDescriptor(cudnn::Tensor *filter);
int cudnnSetFilter4dDescriptor(cudnn::Tensor *filter, int type, int format,
                               int k, int c, int h, int w);
int cudnnSetFilterNdDescriptor(cudnn::Tensor *filter, int type, int format,
                               int count, const int *dims);
int cudnnCreateConvolutionDescriptor(cudnn::ConvolutionDescriptor **);
int cudnnDestroyConvolutionDescriptor(cudnn::ConvolutionDescriptor *);
int cudnnSetConvolution2dDescriptor(cudnn::ConvolutionDescriptor *, int padH,
                                    int padW, int strideH, int strideW,
                                    int dilationH, int dilationW, int mode,
                                    int computeType);
int cudnnSetConvolutionNdDescriptor(cudnn::ConvolutionDescriptor *, int count,
                                    const int *pads, const int *strides,
                                    const int *dilations, int mode,
                                    int computeType);
int cudnnSetConvolutionGroupCount(cudnn::ConvolutionDescriptor *, int groups);
int cudnnSetConvolutionMathType(cudnn::ConvolutionDescriptor *, int mathType);
int cudnnCreateActivationDescriptor(cudnn::ActivationDescriptor **);
int cudnnDestroyActivationDescriptor(cudnn::ActivationDescriptor *);
int cudnnSetActivationDescriptor(cudnn::ActivationDescriptor *, int mode,
                                 int nanPropagation, double coefficient);
int cudnnGetConvolutionForwardAlgorithm_v7(
    cudnn::Handle *, const cudnn::Tensor *x, const cudnn::Tensor *w,
    const cudnn::ConvolutionDescriptor *, const cudnn::Tensor *y, int requested,
    int *returned, cudnn::AlgorithmPerformance *results);
int cudnnGetConvolutionForwardWorkspaceSize(
    cudnn::Handle *, const cudnn::Tensor *x, const cudnn::Tensor *w,
    const cudnn::ConvolutionDescriptor *, const cudnn::Tensor *y, int algorithm,
    size_t *bytes);
int cudnnConvolutionForward(cudnn::Handle *, const void *alpha,
                            const cudnn::Tensor *layoutX, const void *x,
                            const cudnn::Tensor *layoutW, const void *w,
                            const cudnn::ConvolutionDescriptor *, int algorithm,
                            void *workspace, size_t workspaceBytes,
                            const void *beta, const cudnn::Tensor *layoutY,
                            void *y);
int cudnnConvolutionBiasActivationForward(
    cudnn::Handle *, const void *alpha, const cudnn::Tensor *layoutX,
    const void *x, const cudnn::Tensor *layoutW, const void *w,
    const cudnn::ConvolutionDescriptor *, int algorithm, void *workspace,
    size_t workspaceBytes, const void *alphaZ, const cudnn::Tensor *layoutZ,
    const void *z, const cudnn::Tensor *layoutBias, const void *bias,
    const cudnn::ActivationDescriptor *, const cudnn::Tensor *layoutY, void *y);
int cudnnConvolutionBackwardData(cudnn::Handle *, const void *alpha,
                                 const cudnn::Tensor *layoutW, const void *w,
                                 const cudnn::Tensor *layoutDy, const void *dy,
                                 const cudnn::ConvolutionDescriptor *,
                                 int algorithm, void *workspace,
                                 size_t workspaceBytes, const void *beta,
                                 const cudnn::Tensor *layoutDx, void *dx);
int cudnnConvolutionBackwardFilter(cudnn::Handle *, const void *alpha,
                                   const cudnn::Tensor *layoutX, const void *x,
                                   const cudnn::Tensor *layoutDy,
                                   const void *dy,
                                   const cudnn::ConvolutionDescriptor *,
                                   int algorithm, void *workspace,
                                   size_t workspaceBytes, const void *beta,
                                   const cudnn::Tensor *layoutDw, void *dw);
int cudnnConvolutionBackwardBias(cudnn::Handle *, const void *alpha,
                                 const cudnn::Tensor *layoutDy, const void *dy,
                                 const void *beta,
                                 const cudnn::Tensor *layoutDb, void *db);
// NOLINTEND(readability-identifier-naming)
}
#endif
