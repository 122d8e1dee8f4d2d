//===- BlasLt.h - the entry points of cuBLASLt ----------------------------===//
//
// As its public ABI has them (version 12 and later).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_BLASLT_H
#define CLEAVE_RUNTIME_CUDA_BLASLT_H

#include "runtime/cuda/Driver.h"

#include <cstdint>

namespace cleave::rt::cuda {

using BlasHandle = struct cublasLtContext *;
using BlasMatmulDesc = struct cublasLtMatmulDescOpaque *;
using BlasLayout = struct cublasLtMatrixLayoutOpaque *;
using BlasPreference = struct cublasLtMatmulPreferenceOpaque *;

struct BlasAlgorithm {
  uint64_t data[8];
};

struct BlasHeuristicResult {
  BlasAlgorithm algorithm;
  size_t workspaceSize;
  Status state;
  float wavesCount;
  int reserved[4];
};

enum BlasDescAttribute {
  DescTransA = 3,
  DescTransB = 4,
  DescEpilogue = 7,
  DescBiasPointer = 8,
};
enum BlasLayoutAttribute { LayoutBatchCount = 5, LayoutBatchOffset = 6 };
/// That of the alignments is followed by those of b, c and d.
enum BlasPreferenceAttribute {
  PreferenceMostWorkspace = 1,
  PreferenceAlignmentA = 5,
};
/// Parts of an epilogue; they add up.
enum BlasEpilogue : int32_t {
  EpilogueNone = 1,
  EpilogueRelu = 2,
  EpilogueBias = 4,
  EpilogueGelu = 32,
};
enum BlasCompute { ComputeF32 = 68, ComputeTf32 = 77 };
enum BlasType { TypeF32 = 0, TypeF16 = 2, TypeBf16 = 14 };

#define CLEAVE_BLASLT_ENTRIES(X)                                               \
  X(const char *, cublasLtGetStatusString, (Status))                           \
  X(Status, cublasLtCreate, (BlasHandle *))                                    \
  X(Status, cublasLtDestroy, (BlasHandle))                                     \
  X(Status, cublasLtMatmulDescCreate, (BlasMatmulDesc *, int, int))            \
  X(Status, cublasLtMatmulDescDestroy, (BlasMatmulDesc))                       \
  X(Status, cublasLtMatmulDescSetAttribute,                                    \
    (BlasMatmulDesc, int, const void *, size_t))                               \
  X(Status, cublasLtMatrixLayoutCreate,                                        \
    (BlasLayout *, int, uint64_t, uint64_t, int64_t))                          \
  X(Status, cublasLtMatrixLayoutDestroy, (BlasLayout))                         \
  X(Status, cublasLtMatrixLayoutSetAttribute,                                  \
    (BlasLayout, int, const void *, size_t))                                   \
  X(Status, cublasLtMatmulPreferenceCreate, (BlasPreference *))                \
  X(Status, cublasLtMatmulPreferenceDestroy, (BlasPreference))                 \
  X(Status, cublasLtMatmulPreferenceSetAttribute,                              \
    (BlasPreference, int, const void *, size_t))                               \
  X(Status, cublasLtMatmulAlgoGetHeuristic,                                    \
    (BlasHandle, BlasMatmulDesc, BlasLayout, BlasLayout, BlasLayout,           \
     BlasLayout, BlasPreference, int, BlasHeuristicResult *, int *))           \
  X(Status, cublasLtMatmul,                                                    \
    (BlasHandle, BlasMatmulDesc, const void *, const void *, BlasLayout,       \
     const void *, BlasLayout, const void *, const void *, BlasLayout, void *, \
     BlasLayout, const BlasAlgorithm *, void *, size_t, StreamHandle))

struct BlasLt {
  BlasLt();
  CLEAVE_BLASLT_ENTRIES(CLEAVE_DECLARE_ENTRY)

  void check(Status status, const char *call) const;

private:
  Library library;
};

/// Loaded at first use, for all ranks of the process.
const BlasLt &blasLt();

} // namespace cleave::rt::cuda

/// Calls an entry point of cuBLASLt.
#define CLEAVE_BLASLT(name, ...)                                               \
  ::cleave::rt::cuda::blasLt().check(                                          \
      ::cleave::rt::cuda::blasLt().name(__VA_ARGS__), #name)

#endif
