//===- Cudnn.h - the entry points of cuDNN --------------------------------===//
//
// The convolutions of its legacy API, as the public ABI of version 9 has them.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_CUDNN_H
#define CLEAVE_RUNTIME_CUDA_CUDNN_H

#include "runtime/cuda/Driver.h"

namespace cleave::rt::cuda {

using DnnHandle = struct cudnnContext *;
using DnnTensor = struct cudnnTensorStruct *;
using DnnFilter = struct cudnnFilterStruct *;
using DnnConvolution = struct cudnnConvolutionStruct *;

enum DnnType { DnnF32 = 0, DnnF16 = 2, DnnBf16 = 9 };
enum DnnFormat { DnnNchw = 0 };
enum DnnMode { DnnCrossCorrelation = 1 };
/// More than the library has for any kind of convolution.
constexpr int MaxDnnAlgorithms = 16;
enum DnnMath {
  DnnDefaultMath = 0,
  DnnTensorOps = 1,
  DnnTensorOpsAny = 2,
  DnnFmaMath = 3
};

/// An algorithm, how it would do, and what it needs.
struct DnnAlgorithm {
  int algorithm;
  Status status;
  float time;
  size_t memory;
  int isDeterministic;
  int mathType;
  int reserved[3];
};

#define CLEAVE_CUDNN_ENTRIES(X)                                                \
  X(const char *, cudnnGetErrorString, (Status))                               \
  X(Status, cudnnCreate, (DnnHandle *))                                        \
  X(Status, cudnnDestroy, (DnnHandle))                                         \
  X(Status, cudnnSetStream, (DnnHandle, StreamHandle))                         \
  X(Status, cudnnCreateTensorDescriptor, (DnnTensor *))                        \
  X(Status, cudnnSetTensorNdDescriptor,                                        \
    (DnnTensor, int, int, const int *, const int *))                           \
  X(Status, cudnnDestroyTensorDescriptor, (DnnTensor))                         \
  X(Status, cudnnCreateFilterDescriptor, (DnnFilter *))                        \
  X(Status, cudnnSetFilterNdDescriptor,                                        \
    (DnnFilter, int, int, int, const int *))                                   \
  X(Status, cudnnDestroyFilterDescriptor, (DnnFilter))                         \
  X(Status, cudnnCreateConvolutionDescriptor, (DnnConvolution *))              \
  X(Status, cudnnSetConvolutionNdDescriptor,                                   \
    (DnnConvolution, int, const int *, const int *, const int *, int, int))    \
  X(Status, cudnnSetConvolutionGroupCount, (DnnConvolution, int))              \
  X(Status, cudnnSetConvolutionMathType, (DnnConvolution, int))                \
  X(Status, cudnnDestroyConvolutionDescriptor, (DnnConvolution))               \
  X(Status, cudnnGetConvolutionForwardAlgorithm_v7,                            \
    (DnnHandle, DnnTensor, DnnFilter, DnnConvolution, DnnTensor, int, int *,   \
     DnnAlgorithm *))                                                          \
  X(Status, cudnnConvolutionForward,                                           \
    (DnnHandle, const void *, DnnTensor, const void *, DnnFilter,              \
     const void *, DnnConvolution, int, void *, size_t, const void *,          \
     DnnTensor, void *))                                                       \
  X(Status, cudnnGetConvolutionBackwardDataAlgorithm_v7,                       \
    (DnnHandle, DnnFilter, DnnTensor, DnnConvolution, DnnTensor, int, int *,   \
     DnnAlgorithm *))                                                          \
  X(Status, cudnnConvolutionBackwardData,                                      \
    (DnnHandle, const void *, DnnFilter, const void *, DnnTensor,              \
     const void *, DnnConvolution, int, void *, size_t, const void *,          \
     DnnTensor, void *))                                                       \
  X(Status, cudnnGetConvolutionBackwardFilterAlgorithm_v7,                     \
    (DnnHandle, DnnTensor, DnnTensor, DnnConvolution, DnnFilter, int, int *,   \
     DnnAlgorithm *))                                                          \
  X(Status, cudnnConvolutionBackwardFilter,                                    \
    (DnnHandle, const void *, DnnTensor, const void *, DnnTensor,              \
     const void *, DnnConvolution, int, void *, size_t, const void *,          \
     DnnFilter, void *))

struct Cudnn {
  Cudnn();
  CLEAVE_CUDNN_ENTRIES(CLEAVE_DECLARE_ENTRY)

  void check(Status status, const char *call) const;

private:
  Library library;
};

/// Loaded at first use, for all ranks of the process.
const Cudnn &cudnn();

} // namespace cleave::rt::cuda

/// Calls an entry point of cuDNN.
#define CLEAVE_CUDNN(name, ...)                                                \
  ::cleave::rt::cuda::cudnn().check(                                           \
      ::cleave::rt::cuda::cudnn().name(__VA_ARGS__), #name)

#endif
