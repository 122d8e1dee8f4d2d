//===- Entry.cpp - the entry points of cuBLASLt ---------------------------===//

#include "cublaslt/Matmul.h"
#include "device/Environment.h"

#include <algorithm>
#include <cstring>

using namespace cudaemu;
using namespace cublaslt;

static constexpr uint64_t algorithmMark = 0x656d756c61746f72;

static int refused(const std::string &what) {
  report("cublasLtMatmul: " + what);
  return NotSupported;
}

/// Sets a field from a value of the caller, whose size must be that of T.
template <class T, class Field>
static int set(Field &field, const void *value, size_t bytes) {
  if (bytes != sizeof(T))
    return InvalidValue;
  T given;
  std::memcpy(&given, value, sizeof given);
  field = static_cast<Field>(given);
  return Success;
}

extern "C" {

int cublasLtCreate(void **handle) {
  if (!currentContext())
    return NotInitialized;
  *handle = new int(0);
  return Success;
}

int cublasLtDestroy(void *handle) {
  delete static_cast<int *>(handle);
  return Success;
}

size_t cublasLtGetVersion() { return 130000; }

const char *cublasLtGetStatusName(int status) {
  switch (status) {
  case Success:
    return "CUBLAS_STATUS_SUCCESS";
  case NotInitialized:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case InvalidValue:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case ExecutionFailed:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  case NotSupported:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

const char *cublasLtGetStatusString(int status) {
  return cublasLtGetStatusName(status);
}

int cublasLtMatrixLayoutInit_internal(Layout *layout, size_t, int type,
                                      uint64_t rows, uint64_t cols,
                                      int64_t ld) {
  *layout = {};
  layout->type = type;
  layout->rows = rows;
  layout->cols = cols;
  layout->ld = ld;
  return Success;
}

int cublasLtMatrixLayoutCreate(Layout **layout, int type, uint64_t rows,
                               uint64_t cols, int64_t ld) {
  *layout = new Layout;
  return cublasLtMatrixLayoutInit_internal(*layout, sizeof(Layout), type, rows,
                                           cols, ld);
}

int cublasLtMatrixLayoutDestroy(Layout *layout) {
  delete layout;
  return Success;
}

int cublasLtMatrixLayoutSetAttribute(Layout *layout, int attribute,
                                     const void *value, size_t bytes) {
  switch (attribute) {
  case LayoutType:
    return set<uint32_t>(layout->type, value, bytes);
  case LayoutOrder:
    return set<int32_t>(layout->order, value, bytes);
  case LayoutRows:
    return set<uint64_t>(layout->rows, value, bytes);
  case LayoutCols:
    return set<uint64_t>(layout->cols, value, bytes);
  case LayoutLd:
    return set<int64_t>(layout->ld, value, bytes);
  case LayoutBatchCount:
    return set<int32_t>(layout->batchCount, value, bytes);
  case LayoutBatchOffset:
    return set<int64_t>(layout->batchOffset, value, bytes);
  default:
    return InvalidValue;
  }
}

int cublasLtMatmulDescInit_internal(Matmul *matmul, size_t, int computeType,
                                    int scaleType) {
  *matmul = {};
  matmul->computeType = computeType;
  matmul->scaleType = scaleType;
  return Success;
}

int cublasLtMatmulDescCreate(Matmul **matmul, int computeType, int scaleType) {
  *matmul = new Matmul;
  return cublasLtMatmulDescInit_internal(*matmul, sizeof(Matmul), computeType,
                                         scaleType);
}

int cublasLtMatmulDescDestroy(Matmul *matmul) {
  delete matmul;
  return Success;
}

int cublasLtMatmulDescSetAttribute(Matmul *matmul, int attribute,
                                   const void *value, size_t bytes) {
  int ignored = 0;
  switch (attribute) {
  case MatmulComputeType:
    return set<int32_t>(matmul->computeType, value, bytes);
  case MatmulScaleType:
    return set<int32_t>(matmul->scaleType, value, bytes);
  case MatmulPointerMode:
    return set<int32_t>(matmul->pointerMode, value, bytes);
  case MatmulTransA:
    return set<int32_t>(matmul->transA, value, bytes);
  case MatmulTransB:
    return set<int32_t>(matmul->transB, value, bytes);
  case MatmulTransC:
    return set<int32_t>(matmul->transC, value, bytes);
  case MatmulEpilogue:
    return set<uint32_t>(matmul->epilogue, value, bytes);
  case MatmulBiasPointer:
    return set<uint64_t>(matmul->bias, value, bytes);
  case MatmulBiasBatchStride:
    return set<int64_t>(matmul->biasStride, value, bytes);
  case MatmulAuxPointer:
    return set<uint64_t>(matmul->aux, value, bytes);
  case MatmulAuxLd:
    return set<int64_t>(matmul->auxLd, value, bytes);
  case MatmulAuxBatchStride:
    return set<int64_t>(matmul->auxStride, value, bytes);
  case MatmulAuxType:
    return set<int32_t>(matmul->auxType, value, bytes);
  case MatmulBiasType:
    return set<int32_t>(matmul->biasType, value, bytes);
  case MatmulSmCountTarget:
    return set<int32_t>(ignored, value, bytes);
  case MatmulFastAccum:
    return set<uint8_t>(ignored, value, bytes);
  default:
    return refused("attribute " + std::to_string(attribute) +
                   " of the descriptor is not supported");
  }
}

int cublasLtMatmulPreferenceInit_internal(Preference *preference, size_t) {
  *preference = {};
  return Success;
}

int cublasLtMatmulPreferenceCreate(Preference **preference) {
  *preference = new Preference;
  return Success;
}

int cublasLtMatmulPreferenceDestroy(Preference *preference) {
  delete preference;
  return Success;
}

int cublasLtMatmulPreferenceSetAttribute(Preference *preference, int attribute,
                                         const void *value, size_t bytes) {
  if (attribute == PreferenceWorkspace)
    return set<uint64_t>(preference->workspace, value, bytes);
  return Success; // what else is preferred makes no difference here
}

/// One algorithm, which wants a workspace where it may have one.
int cublasLtMatmulAlgoGetHeuristic(void *handle, const Matmul *matmul,
                                   const Layout *a, const Layout *b,
                                   const Layout *c, const Layout *d,
                                   const Preference *preference, int requested,
                                   HeuristicResult *results, int *returned) {
  if (!handle || requested < 1)
    return InvalidValue;
  Product product{};
  product.matmul = *matmul;
  product.a = *a;
  product.b = *b;
  product.c = *c;
  product.d = *d;
  // Pointers may be set after the heuristic is asked.
  product.matmul.bias = product.matmul.aux = 1;
  *returned = 0;
  if (std::string wrong = problem(product); !wrong.empty())
    return refused(wrong);
  results[0] = {};
  results[0].workspace = std::min<size_t>(preference->workspace, 1 << 20);
  results[0].algorithm.data[0] = algorithmMark;
  results[0].algorithm.data[1] = results[0].workspace;
  results[0].waves = 1;
  *returned = 1;
  return Success;
}

int cublasLtMatmul(void *handle, const Matmul *matmul, const void *alpha,
                   const void *a, const Layout *layoutA, const void *b,
                   const Layout *layoutB, const void *beta, const void *c,
                   const Layout *layoutC, void *d, const Layout *layoutD,
                   const Algorithm *algorithm, void *workspace,
                   size_t workspaceBytes, cuda::StreamHandle stream) {
  CudaContext *current = currentContext();
  if (!handle || !current)
    return NotInitialized;
  auto address = [](const void *pointer) {
    return reinterpret_cast<uint64_t>(pointer);
  };
  Product product{};
  product.matmul = *matmul;
  product.a = *layoutA;
  product.b = *layoutB;
  product.c = *layoutC;
  product.d = *layoutD;
  product.addressA = address(a);
  product.addressB = address(b);
  product.addressC = address(c);
  product.addressD = address(d);
  product.workspace = address(workspace);
  if (std::string wrong = problem(product); !wrong.empty())
    return refused(wrong);
  if (algorithm) {
    if (algorithm->data[0] != algorithmMark)
      return refused("not an algorithm of the heuristic");
    product.workspaceBytes = algorithm->data[1];
    if (product.workspaceBytes > workspaceBytes)
      return refused("the algorithm needs a workspace of " +
                     std::to_string(product.workspaceBytes) + " bytes, got " +
                     std::to_string(workspaceBytes));
  }
  product.alphaAt = address(alpha);
  product.betaAt = address(beta);
  if (matmul->pointerMode == Host) {
    product.alpha = *static_cast<const float *>(alpha);
    product.beta = *static_cast<const float *>(beta);
  }
  int error = withContext([&](CudaContext &device) {
    Context &context = device.context;
    std::string name = "cublasLtMatmul " + std::to_string(product.d.rows) +
                       "x" + std::to_string(product.d.cols);
    device.streams.put(streamOf(device, stream), name,
                       [product, &context](Work &work) {
                         run(product, context, work);
                         return true;
                       });
    return cuda::Success;
  });
  return error ? ExecutionFailed : Success;
}
}
