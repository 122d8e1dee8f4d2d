//===- Entry.cpp - the convolutions of cuDNN ------------------------------===//

#include "cudnn/Convolution.h"
#include "device/Environment.h"

#include <algorithm>

using namespace cudaemu;
using namespace cudnn;

/// Of algorithm 1; algorithm 0 needs none.
static size_t workspaceOf(int algorithm) {
  return algorithm == ImplicitPrecompGemm ? 64 << 10 : 0;
}

static int check(const Convolution &c, int algorithm) {
  std::string wrong = problem(c);
  if (wrong.empty() && algorithm != ImplicitGemm &&
      algorithm != ImplicitPrecompGemm)
    wrong = "algorithm " + std::to_string(algorithm) + " is not supported";
  if (wrong.empty() && c.workspaceBytes < workspaceOf(algorithm))
    wrong = "a workspace of " + std::to_string(workspaceOf(algorithm)) +
            " bytes is needed, got " + std::to_string(c.workspaceBytes);
  if (wrong.empty())
    return Success;
  report("cuDNN convolution: " + wrong);
  return BadParam;
}

static uint64_t address(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}
static float scalar(const void *pointer) {
  return *static_cast<const float *>(pointer);
}

static int launch(Handle *handle, Convolution made, int algorithm) {
  if (!handle)
    return NotInitialized;
  if (int wrong = check(made, algorithm))
    return wrong;
  made.workspaceBytes = workspaceOf(algorithm);
  static const char *const names[] = {"forward", "backward data",
                                      "backward filter"};
  std::string name = std::string("cuDNN convolution ") + names[made.kind];
  int error = withContext([&](CudaContext &current) {
    Context &context = current.context;
    current.streams.put(streamOf(current, handle->stream), name,
                        [made = std::move(made), &context](Work &work) {
                          run(made, context, work);
                          return true;
                        });
    return cuda::Success;
  });
  return error ? ExecutionFailed : Success;
}

/// Two algorithms: the faster one wants a workspace.
static int algorithms(const Convolution &c, int requested, int *returned,
                      AlgorithmPerformance *results) {
  Convolution withSpace = c;
  withSpace.workspaceBytes = workspaceOf(1);
  if (int wrong = check(withSpace, 1))
    return wrong;
  *returned = std::min(requested, 2);
  for (int k = 0; k < *returned; ++k) {
    int algorithm = k == 0 ? 1 : 0;
    // The backward algorithms 0 add up in any order.
    bool isDeterministic = algorithm == 1 || c.kind == Convolution::Forward;
    results[k] = {algorithm,
                  Success,
                  -1.0f,
                  workspaceOf(algorithm),
                  isDeterministic,
                  c.descriptor.mathType,
                  {}};
  }
  return Success;
}

static Convolution describe(Convolution::Kind kind, const Tensor *x,
                            const Tensor *w, const Tensor *y,
                            const ConvolutionDescriptor *d) {
  Convolution made{};
  made.kind = kind;
  made.descriptor = *d;
  made.x = *x;
  made.w = *w;
  made.y = *y;
  return made;
}

extern "C" {

int cudnnGetConvolutionNdForwardOutputDim(const ConvolutionDescriptor *d,
                                          const Tensor *x, const Tensor *w,
                                          int count, int *dims) {
  Convolution c = describe(Convolution::Forward, x, w, x, d);
  if (count != static_cast<int>(x->dims.size()))
    return BadParam;
  dims[0] = static_cast<int>(x->dims[0]);
  dims[1] = static_cast<int>(w->dims[0]);
  for (size_t k = 0; k < c.spatial(); ++k)
    dims[k + 2] = static_cast<int>(outputSize(c, k));
  return Success;
}

int cudnnGetConvolutionForwardAlgorithm_v7(Handle *, const Tensor *x,
                                           const Tensor *w,
                                           const ConvolutionDescriptor *d,
                                           const Tensor *y, int requested,
                                           int *returned,
                                           AlgorithmPerformance *results) {
  return algorithms(describe(Convolution::Forward, x, w, y, d), requested,
                    returned, results);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle *, const Tensor *w,
                                                const Tensor *dy,
                                                const ConvolutionDescriptor *d,
                                                const Tensor *dx, int requested,
                                                int *returned,
                                                AlgorithmPerformance *results) {
  return algorithms(describe(Convolution::BackwardData, dx, w, dy, d),
                    requested, returned, results);
}
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    Handle *, const Tensor *x, const Tensor *dy, const ConvolutionDescriptor *d,
    const Tensor *dw, int requested, int *returned,
    AlgorithmPerformance *results) {
  return algorithms(describe(Convolution::BackwardFilter, x, dw, dy, d),
                    requested, returned, results);
}

int cudnnGetConvolutionForwardWorkspaceSize(Handle *, const Tensor *,
                                            const Tensor *,
                                            const ConvolutionDescriptor *,
                                            const Tensor *, int algorithm,
                                            size_t *bytes) {
  *bytes = workspaceOf(algorithm);
  return Success;
}
int cudnnGetConvolutionBackwardDataWorkspaceSize(Handle *, const Tensor *,
                                                 const Tensor *,
                                                 const ConvolutionDescriptor *,
                                                 const Tensor *, int algorithm,
                                                 size_t *bytes) {
  *bytes = workspaceOf(algorithm);
  return Success;
}
int cudnnGetConvolutionBackwardFilterWorkspaceSize(
    Handle *, const Tensor *, const Tensor *, const ConvolutionDescriptor *,
    const Tensor *, int algorithm, size_t *bytes) {
  *bytes = workspaceOf(algorithm);
  return Success;
}

int cudnnConvolutionForward(Handle *handle, const void *alpha,
                            const Tensor *layoutX, const void *x,
                            const Tensor *layoutW, const void *w,
                            const ConvolutionDescriptor *d, int algorithm,
                            void *workspace, size_t workspaceBytes,
                            const void *beta, const Tensor *layoutY, void *y) {
  Convolution c = describe(Convolution::Forward, layoutX, layoutW, layoutY, d);
  c.addressX = address(x);
  c.addressW = address(w);
  c.addressY = address(y);
  c.alpha = scalar(alpha);
  c.beta = scalar(beta);
  c.workspace = address(workspace);
  c.workspaceBytes = workspaceBytes;
  return launch(handle, std::move(c), algorithm);
}

int cudnnConvolutionBiasActivationForward(
    Handle *handle, const void *alpha, const Tensor *layoutX, const void *x,
    const Tensor *layoutW, const void *w, const ConvolutionDescriptor *d,
    int algorithm, void *workspace, size_t workspaceBytes, const void *alphaZ,
    const Tensor *layoutZ, const void *z, const Tensor *layoutBias,
    const void *bias, const ActivationDescriptor *activation,
    const Tensor *layoutY, void *y) {
  // As cuDNN has it: what is not relu or clipped goes with algorithm 1 only.
  if (activation->mode == Identity && algorithm != ImplicitPrecompGemm)
    return NotSupported;
  Convolution c = describe(Convolution::Forward, layoutX, layoutW, layoutY, d);
  c.addressX = address(x);
  c.addressW = address(w);
  c.addressY = address(y);
  c.alpha = scalar(alpha);
  c.workspace = address(workspace);
  c.workspaceBytes = workspaceBytes;
  c.isFused = true;
  c.z = *layoutZ;
  c.bias = *layoutBias;
  c.addressZ = address(z);
  c.addressBias = address(bias);
  c.alphaZ = scalar(alphaZ);
  c.activation = *activation;
  return launch(handle, std::move(c), algorithm);
}

int cudnnConvolutionBackwardData(Handle *handle, const void *alpha,
                                 const Tensor *layoutW, const void *w,
                                 const Tensor *layoutDy, const void *dy,
                                 const ConvolutionDescriptor *d, int algorithm,
                                 void *workspace, size_t workspaceBytes,
                                 const void *beta, const Tensor *layoutDx,
                                 void *dx) {
  Convolution c =
      describe(Convolution::BackwardData, layoutDx, layoutW, layoutDy, d);
  c.addressX = address(dx);
  c.addressW = address(w);
  c.addressY = address(dy);
  c.alpha = scalar(alpha);
  c.beta = scalar(beta);
  c.workspace = address(workspace);
  c.workspaceBytes = workspaceBytes;
  return launch(handle, std::move(c), algorithm);
}

int cudnnConvolutionBackwardFilter(Handle *handle, const void *alpha,
                                   const Tensor *layoutX, const void *x,
                                   const Tensor *layoutDy, const void *dy,
                                   const ConvolutionDescriptor *d,
                                   int algorithm, void *workspace,
                                   size_t workspaceBytes, const void *beta,
                                   const Tensor *layoutDw, void *dw) {
  Convolution c =
      describe(Convolution::BackwardFilter, layoutX, layoutDw, layoutDy, d);
  c.addressX = address(x);
  c.addressW = address(dw);
  c.addressY = address(dy);
  c.alpha = scalar(alpha);
  c.beta = scalar(beta);
  c.workspace = address(workspace);
  c.workspaceBytes = workspaceBytes;
  return launch(handle, std::move(c), algorithm);
}

/// db = alpha (sums of dy over all but the channels) + beta db
int cudnnConvolutionBackwardBias(Handle *handle, const void *alpha,
                                 const Tensor *layoutDy, const void *dy,
                                 const void *beta, const Tensor *layoutDb,
                                 void *db) {
  if (!handle)
    return NotInitialized;
  Tensor from = *layoutDy, to = *layoutDb;
  if (elements(to) != from.dims[1])
    return BadParam;
  float factor = scalar(alpha), keep = scalar(beta);
  int error = withContext([&](CudaContext &current) {
    Context &context = current.context;
    current.streams.put(
        streamOf(current, handle->stream), "cuDNN backward bias",
        [=, &context, at = address(dy), into = address(db)](Work &work) {
          std::vector<float> values = take(context, work, from, at);
          std::vector<float> sums(from.dims[1]);
          size_t inner = values.size() / from.dims[0] / from.dims[1];
          for (size_t k = 0; k < values.size(); ++k)
            sums[k / inner % sums.size()] += factor * values[k];
          if (keep != 0) {
            std::vector<float> before = take(context, work, to, into);
            for (size_t k = 0; k < sums.size(); ++k)
              sums[k] += keep * before[k];
          }
          put(context, work, to, into, sums);
          return true;
        });
    return cuda::Success;
  });
  return error ? ExecutionFailed : Success;
}
}
