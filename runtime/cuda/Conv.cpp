//===- Conv.cpp - convolutions by cuDNN -----------------------------------===//
//
// A transposed convolution is the gradient of a plain one with respect to its
// input. The library has 2 or 3 spatial dims: one dim is seen as two, of which
// the first has size 1. Its padding is the same on both sides. Of its
// algorithms the fastest one is taken that adds in the same order every time.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Conv.h"

#include "runtime/support/Dtype.h"

#include <array>
#include <span>

namespace cleave::rt::cuda {

Cudnn::Cudnn() : library({"libcudnn.so.9"}, "computes convolutions") {
  CLEAVE_CUDNN_ENTRIES(CLEAVE_FIND_ENTRY)
}

void Cudnn::check(Status status, const char *call) const {
  if (status != StatusDone)
    fail(ExitDevice, "cuDNN: {} failed: {}", call, cudnnGetErrorString(status));
}

const Cudnn &cudnn() {
  static const Cudnn loaded;
  return loaded;
}

static int libraryType(int32_t dtype) {
  switch (dtype) {
  case CLEAVE_F32:
    return DnnF32;
  case CLEAVE_F16:
    return DnnF16;
  case CLEAVE_BF16:
    return DnnBf16;
  default:
    fail(ExitPlan, "cuDNN: no convolutions of {}", dtypeInfo(dtype).name);
  }
}

/// Sizes as the library takes them, with a dim of size 1 in front of a single
/// spatial one.
static std::vector<int> widened(const int64_t *values, int count, int spatial,
                                int filler) {
  std::vector<int> list;
  for (int i = 0; i < count; ++i) {
    if (spatial == 1 && i == count - 1)
      list.push_back(filler);
    list.push_back(static_cast<int>(values[i]));
  }
  return list;
}

class Conv {
public:
  Conv(DnnHandle handle, ConvKind kind, const CleaveConvDesc &desc, bool tf32);
  ~Conv();
  size_t workspaceBytes() const { return choice.memory; }
  /// Reads two, writes the third: of a weight gradient, `rhs` is the gradient
  /// of the output; else it is the weight.
  void run(DnnHandle handle, const void *input, const void *rhs, void *result,
           void *workspace);

private:
  static DnnTensor describe(const CleaveTensorDesc &desc, int spatial);
  void describeWindow(const CleaveConvDesc &desc, bool tf32);
  void choose(DnnHandle handle);

  ConvKind kind;
  DnnTensor input = nullptr, output = nullptr;
  DnnFilter filter = nullptr;
  DnnConvolution window = nullptr;
  DnnAlgorithm choice = {};
};

DnnTensor Conv::describe(const CleaveTensorDesc &desc, int spatial) {
  DnnTensor made = nullptr;
  CLEAVE_CUDNN(cudnnCreateTensorDescriptor, &made);
  std::vector<int> dims = widened(desc.dims, desc.rank, spatial, 1);
  std::vector<int> strides = widened(
      desc.strides, desc.rank, spatial,
      static_cast<int>(desc.dims[desc.rank - 1] * desc.strides[desc.rank - 1]));
  CLEAVE_CUDNN(cudnnSetTensorNdDescriptor, made, libraryType(desc.dtype),
               static_cast<int>(dims.size()), dims.data(), strides.data());
  return made;
}

/// Whether the windows along a spatial dim are those of the same padding on
/// both sides; what no window reaches behind them does not count.
static bool isPaddedEvenly(const CleaveConvDesc &desc, int dim) {
  const CleaveTensorDesc &padded = desc.transposed ? desc.output : desc.input;
  const CleaveTensorDesc &windows = desc.transposed ? desc.input : desc.output;
  int64_t extent = (desc.weight.dims[dim + 2] - 1) * desc.dilation[dim] + 1;
  int64_t room = padded.dims[dim + 2] + 2 * desc.padLow[dim] - extent;
  return room >= 0 && room / desc.stride[dim] + 1 == windows.dims[dim + 2];
}

void Conv::describeWindow(const CleaveConvDesc &desc, bool tf32) {
  int spatial = desc.spatialRank;
  for (int i = 0; i < spatial; ++i)
    if (!isPaddedEvenly(desc, i))
      fail(ExitPlan,
           "cuDNN: a convolution is padded by {} before and {} behind; both "
           "must be the same on CUDA",
           desc.padLow[i], desc.padHigh[i]);
  std::vector<int> pads = widened(desc.padLow, spatial, spatial, 0);
  std::vector<int> strides = widened(desc.stride, spatial, spatial, 1);
  std::vector<int> dilations = widened(desc.dilation, spatial, spatial, 1);
  CLEAVE_CUDNN(cudnnCreateConvolutionDescriptor, &window);
  CLEAVE_CUDNN(cudnnSetConvolutionNdDescriptor, window,
               static_cast<int>(pads.size()), pads.data(), strides.data(),
               dilations.data(), DnnCrossCorrelation, DnnF32);
  CLEAVE_CUDNN(cudnnSetConvolutionGroupCount, window,
               static_cast<int>(desc.groups));
  bool isExact = desc.input.dtype == CLEAVE_F32 && !tf32;
  CLEAVE_CUDNN(cudnnSetConvolutionMathType, window,
               isExact ? DnnFmaMath : DnnTensorOps);
}

void Conv::choose(DnnHandle handle) {
  std::array<DnnAlgorithm, MaxDnnAlgorithms> found = {};
  int count = 0;
  switch (kind) {
  case ConvKind::Forward:
    CLEAVE_CUDNN(cudnnGetConvolutionForwardAlgorithm_v7, handle, input, filter,
                 window, output, MaxDnnAlgorithms, &count, found.data());
    break;
  case ConvKind::Transposed:
    CLEAVE_CUDNN(cudnnGetConvolutionBackwardDataAlgorithm_v7, handle, filter,
                 input, window, output, MaxDnnAlgorithms, &count, found.data());
    break;
  case ConvKind::WeightGradient:
    CLEAVE_CUDNN(cudnnGetConvolutionBackwardFilterAlgorithm_v7, handle, input,
                 output, window, filter, MaxDnnAlgorithms, &count,
                 found.data());
    break;
  }
  for (const DnnAlgorithm &algorithm : std::span(found).first(count))
    if (algorithm.status == StatusDone && algorithm.isDeterministic) {
      choice = algorithm;
      return;
    }
  fail(ExitDevice, "cuDNN knows no way to compute this convolution that gives "
                   "the same every time");
}

Conv::Conv(DnnHandle handle, ConvKind kind, const CleaveConvDesc &desc,
           bool tf32)
    : kind(kind) {
  if (desc.postOpCount)
    fail(ExitPlan, "cuDNN: a convolution takes no post-operations");
  input = describe(desc.input, desc.spatialRank);
  output = describe(desc.output, desc.spatialRank);
  std::vector<int> sizes =
      widened(desc.weight.dims, desc.weight.rank, desc.spatialRank, 1);
  CLEAVE_CUDNN(cudnnCreateFilterDescriptor, &filter);
  CLEAVE_CUDNN(cudnnSetFilterNdDescriptor, filter,
               libraryType(desc.weight.dtype), DnnNchw,
               static_cast<int>(sizes.size()), sizes.data());
  describeWindow(desc, tf32);
  choose(handle);
}

Conv::~Conv() {
  if (window)
    cudnn().cudnnDestroyConvolutionDescriptor(window);
  if (filter)
    cudnn().cudnnDestroyFilterDescriptor(filter);
  for (DnnTensor tensor : {input, output})
    if (tensor)
      cudnn().cudnnDestroyTensorDescriptor(tensor);
}

void Conv::run(DnnHandle handle, const void *in, const void *rhs, void *result,
               void *workspace) {
  float one = 1, zero = 0;
  switch (kind) {
  case ConvKind::Forward:
    CLEAVE_CUDNN(cudnnConvolutionForward, handle, &one, input, in, filter, rhs,
                 window, choice.algorithm, workspace, choice.memory, &zero,
                 output, result);
    return;
  case ConvKind::Transposed:
    CLEAVE_CUDNN(cudnnConvolutionBackwardData, handle, &one, filter, rhs, input,
                 in, window, choice.algorithm, workspace, choice.memory, &zero,
                 output, result);
    return;
  case ConvKind::WeightGradient:
    CLEAVE_CUDNN(cudnnConvolutionBackwardFilter, handle, &one, input, in,
                 output, rhs, window, choice.algorithm, workspace,
                 choice.memory, &zero, filter, result);
    return;
  }
}

//===-- All call sites ----------------------------------------------------===//

Convolutions::Convolutions(Memory &memory, int slotCount, bool tf32)
    : slots(slotCount), tf32(tf32),
      workspace(memory, "the workspace of convolutions") {}

Convolutions::~Convolutions() {
  slots.clear();
  if (handle)
    cudnn().cudnnDestroy(handle);
}

void Convolutions::call(int slot, ConvKind kind, const CleaveConvDesc &desc,
                        const void *input, const void *rhs, void *result,
                        StreamHandle stream) {
  if (!handle) {
    CLEAVE_CUDNN(cudnnCreate, &handle);
    CLEAVE_CUDNN(cudnnSetStream, handle, stream);
  }
  std::unique_ptr<Conv> &made = slots[slot];
  if (!made)
    made = std::make_unique<Conv>(handle, kind, desc, tf32);
  made->run(handle, input, rhs, result,
            workspace.reserve(made->workspaceBytes()));
}

void Convolutions::run(int slot, const CleaveConvDesc &desc, const void *input,
                       const void *weight, void *output, StreamHandle stream) {
  call(slot, desc.transposed ? ConvKind::Transposed : ConvKind::Forward, desc,
       input, weight, output, stream);
}

void Convolutions::runWeightGrad(int slot, const CleaveConvDesc &desc,
                                 const void *input, const void *doutput,
                                 void *dweight, StreamHandle stream) {
  call(slot, ConvKind::WeightGradient, desc, input, doutput, dweight, stream);
}

} // namespace cleave::rt::cuda
