//===- CublasLt.h - the part of cuBLASLt that the emulator has ------------===//
//
// Declared from the public ABI; AbiCheck.cpp compares with cublasLt.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "abi/Cuda.h"

namespace cublaslt {

enum Status {
  Success = 0,
  NotInitialized = 1,
  AllocFailed = 3,
  InvalidValue = 7,
  ExecutionFailed = 13,
  NotSupported = 15,
};
enum DataType { R32F = 0, R64F = 1, R16F = 2, R16BF = 14 };
enum ComputeType {
  Compute16F = 64,
  Compute32F = 68,
  Compute32FPedantic = 69,
  Compute64F = 70,
  Compute32FFast16F = 74,
  Compute32FFast16BF = 75,
  Compute32FFastTF32 = 77,
};
enum Transpose { None = 0, Transposed = 1, Conjugate = 2 };
enum Order { Columns = 0, Rows = 1 };
enum PointerMode { Host = 0, DevicePointer = 1 };

/// Bits of an epilogue: CUBLASLT_EPILOGUE_GELU_AUX_BIAS is Gelu | Aux | Bias.
enum Epilogue {
  Default = 1,
  Relu = 2,
  Bias = 4,
  DRelu = 8,
  BiasGradient = 16,
  Gelu = 32,
  DGelu = 64,
  Aux = 128,
  BiasGradientA = 256,
  BiasGradientB = 512,
};

enum LayoutAttribute {
  LayoutType = 0,
  LayoutOrder = 1,
  LayoutRows = 2,
  LayoutCols = 3,
  LayoutLd = 4,
  LayoutBatchCount = 5,
  LayoutBatchOffset = 6,
};
enum MatmulAttribute {
  MatmulComputeType = 0,
  MatmulScaleType = 1,
  MatmulPointerMode = 2,
  MatmulTransA = 3,
  MatmulTransB = 4,
  MatmulTransC = 5,
  MatmulEpilogue = 7,
  MatmulBiasPointer = 8,
  MatmulBiasBatchStride = 10,
  MatmulAuxPointer = 11,
  MatmulAuxLd = 12,
  MatmulAuxBatchStride = 13,
  MatmulSmCountTarget = 15,
  MatmulAuxType = 22,
  MatmulFastAccum = 25,
  MatmulBiasType = 26,
};
enum PreferenceAttribute { PreferenceWorkspace = 1 };

/// As large as the semi-opaque types of the header, into which they fit.
struct Layout {
  int32_t type = R32F, order = Columns;
  uint64_t rows = 0, cols = 0;
  int64_t ld = 0, batchOffset = 0;
  int32_t batchCount = 1;
};
struct Matmul {
  int32_t computeType = Compute32F, scaleType = R32F, pointerMode = Host;
  int32_t transA = None, transB = None, transC = None;
  uint32_t epilogue = Default;
  int32_t auxType = -1, biasType = -1; ///< -1: that of D.
  uint64_t bias = 0, aux = 0;
  int64_t biasStride = 0, auxLd = 0, auxStride = 0;
};
struct Preference {
  uint64_t workspace = 0;
};
struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

} // namespace cublaslt

#ifndef CUDAEMU_TYPES_ONLY // the headers of a toolkit have the rest
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
int cublasLtCreate(void **handle);
int cublasLtDestroy(void *handle);
size_t cublasLtGetVersion();
const char *cublasLtGetStatusName(int status);
const char *cublasLtGetStatusString(int status);
int cublasLtMatrixLayoutCreate(cublaslt::Layout **layout, int type,
                               uint64_t rows, uint64_t cols, int64_t ld);
int cublasLtMatrixLayoutDestroy(cublaslt::Layout *layout);
int cublasLtMatrixLayoutSetAttribute(cublaslt::Layout *layout, int attribute,
                                     const void *value, size_t bytes);
int cublasLtMatmulDescCreate(cublaslt::Matmul **matmul, int computeType,
                             int scaleType);
int cublasLtMatmulDescDestroy(cublaslt::Matmul *matmul);
int cublasLtMatmulDescSetAttribute(cublaslt::Matmul *matmul, int attribute,
                                   const void *value, size_t bytes);
int cublasLtMatmulPreferenceCreate(cublaslt::Preference **preference);
int cublasLtMatmulPreferenceDestroy(cublaslt::Preference *preference);
int cublasLtMatmulPreferenceSetAttribute(cublaslt::Preference *preference,
                                         int attribute, const void *value,
                                         size_t bytes);
int cublasLtMatmulAlgoGetHeuristic(
    void *handle, const cublaslt::Matmul *matmul, const cublaslt::Layout *a,
    const cublaslt::Layout *b, const cublaslt::Layout *c,
    const cublaslt::Layout *d, const cublaslt::Preference *preference,
    int requested, cublaslt::HeuristicResult *results, int *returned);
int cublasLtMatmul(void *handle, const cublaslt::Matmul *matmul,
                   const void *alpha, const void *a,
                   const cublaslt::Layout *layoutA, const void *b,
                   const cublaslt::Layout *layoutB, const void *beta,
                   const void *c, const cublaslt::Layout *layoutC, void *d,
                   const cublaslt::Layout *layoutD,
                   const cublaslt::Algorithm *algorithm, void *workspace,
                   size_t workspaceBytes, cuda::StreamHandle stream);
// NOLINTEND(readability-identifier-naming)
}
#endif
