//===- Descriptors.cpp - handles and descriptors of cuDNN -----------------===//

#include "cudnn/Convolution.h"

using namespace cudaemu;
using namespace cudnn;

/// Dense strides, with the channels last for NHWC.
static void setDense(Tensor &tensor, int format, int type,
                     std::vector<int64_t> dims) {
  size_t rank = dims.size();
  tensor.type = type;
  tensor.strides.assign(rank, 1);
  int64_t step = 1;
  if (format == Nhwc) {
    tensor.strides[1] = 1;
    step = dims[1];
  }
  for (size_t d = rank; d-- > 0;) {
    if (format == Nhwc && d == 1)
      continue;
    tensor.strides[d] = step;
    step *= dims[d];
  }
  tensor.dims = std::move(dims);
}

extern "C" {

size_t cudnnGetVersion() { return 91900; }

const char *cudnnGetErrorString(int status) {
  switch (status) {
  case Success:
    return "CUDNN_STATUS_SUCCESS";
  case NotInitialized:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case BadParam:
    return "CUDNN_STATUS_BAD_PARAM";
  case NotSupported:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  case ExecutionFailed:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  default:
    return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

int cudnnCreate(Handle **handle) {
  if (!currentContext())
    return NotInitialized;
  *handle = new Handle;
  return Success;
}
int cudnnDestroy(Handle *handle) {
  delete handle;
  return Success;
}
int cudnnSetStream(Handle *handle, cuda::StreamHandle stream) {
  handle->stream = stream;
  return Success;
}

int cudnnCreateTensorDescriptor(Tensor **tensor) {
  *tensor = new Tensor;
  return Success;
}
int cudnnDestroyTensorDescriptor(Tensor *tensor) {
  delete tensor;
  return Success;
}
int cudnnSetTensor4dDescriptor(Tensor *tensor, int format, int type, int n,
                               int c, int h, int w) {
  if (format != Nchw && format != Nhwc)
    return NotSupported;
  setDense(*tensor, format, type, {n, c, h, w});
  return Success;
}
int cudnnSetTensor4dDescriptorEx(Tensor *tensor, int type, int n, int c, int h,
                                 int w, int strideN, int strideC, int strideH,
                                 int strideW) {
  tensor->type = type;
  tensor->dims = {n, c, h, w};
  tensor->strides = {strideN, strideC, strideH, strideW};
  return Success;
}
int cudnnSetTensorNdDescriptor(Tensor *tensor, int type, int count,
                               const int *dims, const int *strides) {
  tensor->type = type;
  tensor->dims.assign(dims, dims + count);
  tensor->strides.assign(strides, strides + count);
  return Success;
}
int cudnnSetTensorNdDescriptorEx(Tensor *tensor, int format, int type,
                                 int count, const int *dims) {
  setDense(*tensor, format, type, {dims, dims + count});
  return Success;
}

int cudnnCreateFilterDescriptor(Tensor **filter) {
  *filter = new Tensor;
  return Success;
}
int cudnnDestroyFilterDescriptor(Tensor *filter) {
  delete filter;
  return Success;
}
int cudnnSetFilter4dDescriptor(Tensor *filter, int type, int format, int k,
                               int c, int h, int w) {
  return cudnnSetTensor4dDescriptor(filter, format, type, k, c, h, w);
}
int cudnnSetFilterNdDescriptor(Tensor *filter, int type, int format, int count,
                               const int *dims) {
  return cudnnSetTensorNdDescriptorEx(filter, format, type, count, dims);
}

int cudnnCreateConvolutionDescriptor(ConvolutionDescriptor **descriptor) {
  *descriptor = new ConvolutionDescriptor;
  return Success;
}
int cudnnDestroyConvolutionDescriptor(ConvolutionDescriptor *descriptor) {
  delete descriptor;
  return Success;
}
int cudnnSetConvolutionNdDescriptor(ConvolutionDescriptor *d, int count,
                                    const int *pads, const int *strides,
                                    const int *dilations, int mode,
                                    int computeType) {
  d->pads.assign(pads, pads + count);
  d->strides.assign(strides, strides + count);
  d->dilations.assign(dilations, dilations + count);
  d->mode = mode;
  d->computeType = computeType;
  return Success;
}
int cudnnSetConvolution2dDescriptor(ConvolutionDescriptor *d, int padH,
                                    int padW, int strideH, int strideW,
                                    int dilationH, int dilationW, int mode,
                                    int computeType) {
  int pads[] = {padH, padW}, strides[] = {strideH, strideW};
  int dilations[] = {dilationH, dilationW};
  return cudnnSetConvolutionNdDescriptor(d, 2, pads, strides, dilations, mode,
                                         computeType);
}
int cudnnSetConvolutionGroupCount(ConvolutionDescriptor *d, int groups) {
  d->groups = groups;
  return Success;
}
int cudnnSetConvolutionMathType(ConvolutionDescriptor *d, int mathType) {
  d->mathType = mathType;
  return Success;
}

int cudnnCreateActivationDescriptor(ActivationDescriptor **descriptor) {
  *descriptor = new ActivationDescriptor;
  return Success;
}
int cudnnDestroyActivationDescriptor(ActivationDescriptor *descriptor) {
  delete descriptor;
  return Success;
}
int cudnnSetActivationDescriptor(ActivationDescriptor *d, int mode, int,
                                 double coefficient) {
  d->mode = mode;
  d->coefficient = coefficient;
  return Success;
}
}
