//===- Nccl.h - the part of NCCL that the emulator has --------------------===//
//
// Declared from the public ABI; AbiCheck.cpp compares with nccl.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "abi/Cuda.h"

namespace cudaemu {
struct Communicator;
} // namespace cudaemu

namespace nccl {

using CommHandle = cudaemu::Communicator *;

enum Result {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7,
};
enum ReduceOp { Sum = 0, Prod = 1, Max = 2, Min = 3, Avg = 4 };
enum DataType {
  Int8 = 0,
  Uint8 = 1,
  Int32 = 2,
  Uint32 = 3,
  Int64 = 4,
  Uint64 = 5,
  Float16 = 6,
  Float32 = 7,
  Float64 = 8,
  Bfloat16 = 9,
};
inline constexpr int noColor = -1;

struct UniqueId {
  char internal[128];
};

} // namespace nccl

#ifndef CUDAEMU_TYPES_ONLY // the headers of a toolkit have the rest
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
int ncclGetVersion(int *version);
int ncclGetUniqueId(nccl::UniqueId *id);
const char *ncclGetErrorString(int result);
const char *ncclGetLastError(nccl::CommHandle comm);
int ncclCommInitRank(nccl::CommHandle *comm, int ranks, nccl::UniqueId id,
                     int rank);
int ncclCommInitRankConfig(nccl::CommHandle *comm, int ranks, nccl::UniqueId id,
                           int rank, void *config);
int ncclCommSplit(nccl::CommHandle comm, int color, int key,
                  nccl::CommHandle *made, void *config);
int ncclCommFinalize(nccl::CommHandle comm);
int ncclCommDestroy(nccl::CommHandle comm);
int ncclCommAbort(nccl::CommHandle comm);
int ncclCommGetAsyncError(nccl::CommHandle comm, int *error);
int ncclCommCount(nccl::CommHandle comm, int *count);
int ncclCommUserRank(nccl::CommHandle comm, int *rank);
int ncclCommCuDevice(nccl::CommHandle comm, int *device);
int ncclGroupStart();
int ncclGroupEnd();
int ncclAllReduce(const void *send, void *receive, size_t count, int type,
                  int op, nccl::CommHandle, cuda::StreamHandle);
int ncclReduce(const void *send, void *receive, size_t count, int type, int op,
               int root, nccl::CommHandle, cuda::StreamHandle);
int ncclBroadcast(const void *send, void *receive, size_t count, int type,
                  int root, nccl::CommHandle, cuda::StreamHandle);
int ncclAllGather(const void *send, void *receive, size_t sendCount, int type,
                  nccl::CommHandle, cuda::StreamHandle);
int ncclReduceScatter(const void *send, void *receive, size_t receiveCount,
                      int type, int op, nccl::CommHandle, cuda::StreamHandle);
int ncclSend(const void *send, size_t count, int type, int peer,
             nccl::CommHandle, cuda::StreamHandle);
int ncclRecv(void *receive, size_t count, int type, int peer, nccl::CommHandle,
             cuda::StreamHandle);
// NOLINTEND(readability-identifier-naming)
}
#endif
