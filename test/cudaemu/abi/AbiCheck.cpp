//===- AbiCheck.cpp - compare our declarations with those of a toolkit ----===//
//
// What differs does not compile; a header that is not there is passed over.
//
//===----------------------------------------------------------------------===//

#define CUDAEMU_TYPES_ONLY
#include "abi/CublasLt.h"
#include "abi/Cudnn.h"
#include "abi/Nccl.h"

#include <cstddef>

#define CUDAEMU_EQUAL(OURS, THEIRS)                                            \
  static_assert(static_cast<long long>(OURS) == static_cast<long long>(THEIRS))
#define CUDAEMU_FIELD(OURS, FIELD, THEIRS, THEIR_FIELD)                        \
  static_assert(offsetof(OURS, FIELD) == offsetof(THEIRS, THEIR_FIELD))

#if __has_include(<cuda.h>)
#include <cuda.h>
CUDAEMU_EQUAL(cuda::InvalidValue, CUDA_ERROR_INVALID_VALUE);
CUDAEMU_EQUAL(cuda::NoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
CUDAEMU_EQUAL(cuda::InvalidPtx, CUDA_ERROR_INVALID_PTX);
CUDAEMU_EQUAL(cuda::IllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
CUDAEMU_EQUAL(cuda::LaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
CUDAEMU_EQUAL(cuda::MisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
CUDAEMU_EQUAL(cuda::InvalidPc, CUDA_ERROR_INVALID_PC);
CUDAEMU_EQUAL(cuda::LaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
CUDAEMU_EQUAL(cuda::CaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
CUDAEMU_EQUAL(cuda::CaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
CUDAEMU_EQUAL(cuda::EventDisableTiming, CU_EVENT_DISABLE_TIMING);
CUDAEMU_EQUAL(cuda::StreamNonBlocking, CU_STREAM_NON_BLOCKING);
CUDAEMU_EQUAL(cuda::CaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
CUDAEMU_EQUAL(cuda::FunctionMaxDynamicShared,
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
CUDAEMU_EQUAL(cuda::DeviceMemory, CU_MEMORYTYPE_DEVICE);
CUDAEMU_EQUAL(sizeof(cuda::Copy2D), sizeof(CUDA_MEMCPY2D));
CUDAEMU_FIELD(cuda::Copy2D, toPitch, CUDA_MEMCPY2D, dstPitch);
CUDAEMU_EQUAL(sizeof(cuda::LaunchConfig), sizeof(CUlaunchConfig));
CUDAEMU_FIELD(cuda::LaunchConfig, stream, CUlaunchConfig, hStream);
CUDAEMU_EQUAL(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75);
CUDAEMU_EQUAL(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97);
CUDAEMU_EQUAL(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16);
#endif

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)
#include <nccl.h>
CUDAEMU_EQUAL(nccl::InvalidUsage, ncclInvalidUsage);
CUDAEMU_EQUAL(nccl::InProgress, ncclInProgress);
CUDAEMU_EQUAL(nccl::Avg, ncclAvg);
CUDAEMU_EQUAL(nccl::Bfloat16, ncclBfloat16);
CUDAEMU_EQUAL(nccl::Float16, ncclFloat16);
CUDAEMU_EQUAL(nccl::noColor, NCCL_SPLIT_NOCOLOR);
CUDAEMU_EQUAL(sizeof(nccl::UniqueId), sizeof(ncclUniqueId));
#endif

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
CUDAEMU_EQUAL(cublaslt::NotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
CUDAEMU_EQUAL(cublaslt::R16BF, CUDA_R_16BF);
CUDAEMU_EQUAL(cublaslt::Compute32F, CUBLAS_COMPUTE_32F);
CUDAEMU_EQUAL(cublaslt::Compute32FFastTF32, CUBLAS_COMPUTE_32F_FAST_TF32);
CUDAEMU_EQUAL(cublaslt::Transposed, CUBLAS_OP_T);
CUDAEMU_EQUAL(cublaslt::Rows, CUBLASLT_ORDER_ROW);
CUDAEMU_EQUAL(cublaslt::Gelu | cublaslt::Aux | cublaslt::Bias,
              CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
CUDAEMU_EQUAL(cublaslt::Relu | cublaslt::Aux, CUBLASLT_EPILOGUE_RELU_AUX);
CUDAEMU_EQUAL(cublaslt::DGelu | cublaslt::Aux | cublaslt::BiasGradient,
              CUBLASLT_EPILOGUE_DGELU_BGRAD);
CUDAEMU_EQUAL(cublaslt::DRelu | cublaslt::Aux, CUBLASLT_EPILOGUE_DRELU);
CUDAEMU_EQUAL(cublaslt::BiasGradientA, CUBLASLT_EPILOGUE_BGRADA);
CUDAEMU_EQUAL(cublaslt::BiasGradientB, CUBLASLT_EPILOGUE_BGRADB);
CUDAEMU_EQUAL(cublaslt::LayoutBatchOffset,
              CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
CUDAEMU_EQUAL(cublaslt::MatmulEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
CUDAEMU_EQUAL(cublaslt::MatmulBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
CUDAEMU_EQUAL(cublaslt::MatmulAuxBatchStride,
              CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
CUDAEMU_EQUAL(cublaslt::MatmulAuxType,
              CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE);
CUDAEMU_EQUAL(cublaslt::MatmulBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
CUDAEMU_EQUAL(cublaslt::PreferenceWorkspace,
              CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
CUDAEMU_EQUAL(sizeof(cublaslt::HeuristicResult),
              sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(sizeof(cublaslt::Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
static_assert(sizeof(cublaslt::Matmul) <= sizeof(cublasLtMatmulDescOpaque_t));
#endif

#if __has_include(<cudnn.h>)
#include <cudnn.h>
CUDAEMU_EQUAL(cudnn::BadParam, CUDNN_STATUS_BAD_PARAM);
CUDAEMU_EQUAL(cudnn::ExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED);
CUDAEMU_EQUAL(cudnn::BFloat16, CUDNN_DATA_BFLOAT16);
CUDAEMU_EQUAL(cudnn::Nhwc, CUDNN_TENSOR_NHWC);
CUDAEMU_EQUAL(cudnn::CrossCorrelate, CUDNN_CROSS_CORRELATION);
CUDAEMU_EQUAL(cudnn::FmaMath, CUDNN_FMA_MATH);
CUDAEMU_EQUAL(cudnn::Identity, CUDNN_ACTIVATION_IDENTITY);
CUDAEMU_EQUAL(cudnn::ImplicitPrecompGemm,
              CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
CUDAEMU_EQUAL(cudnn::Algorithm1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
CUDAEMU_EQUAL(sizeof(cudnn::AlgorithmPerformance),
              sizeof(cudnnConvolutionFwdAlgoPerf_t));
CUDAEMU_FIELD(cudnn::AlgorithmPerformance, memory,
              cudnnConvolutionFwdAlgoPerf_t, memory);
CUDAEMU_FIELD(cudnn::AlgorithmPerformance, mathType,
              cudnnConvolutionBwdFilterAlgoPerf_t, mathType);
#endif
