//===- Nccl.h - the entry points of NCCL ----------------------------------===//
//
// As its public ABI has them (version 2).
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_NCCL_H
#define CLEAVE_RUNTIME_CUDA_NCCL_H

#include "runtime/cuda/Driver.h"

namespace cleave::rt::cuda {

using NcclComm = struct ncclComm *;
struct NcclId {
  char bytes[128];
};

enum : Status { NcclDone = 0, NcclInProgress = 7 };
enum NcclType {
  NcclI8 = 0,
  NcclU8 = 1,
  NcclI32 = 2,
  NcclU32 = 3,
  NcclI64 = 4,
  NcclU64 = 5,
  NcclF16 = 6,
  NcclF32 = 7,
  NcclF64 = 8,
  NcclBf16 = 9,
};
enum NcclOp { NcclSum = 0, NcclProd = 1, NcclMax = 2, NcclMin = 3 };

#define CLEAVE_NCCL_ENTRIES(X)                                                 \
  X(const char *, ncclGetErrorString, (Status))                                \
  X(const char *, ncclGetLastError, (NcclComm))                                \
  X(Status, ncclGetUniqueId, (NcclId *))                                       \
  X(Status, ncclCommInitRank, (NcclComm *, int, NcclId, int))                  \
  X(Status, ncclCommDestroy, (NcclComm))                                       \
  X(Status, ncclCommAbort, (NcclComm))                                         \
  X(Status, ncclCommGetAsyncError, (NcclComm, Status *))                       \
  X(Status, ncclAllReduce,                                                     \
    (const void *, void *, size_t, int, int, NcclComm, StreamHandle))          \
  X(Status, ncclAllGather,                                                     \
    (const void *, void *, size_t, int, NcclComm, StreamHandle))               \
  X(Status, ncclReduceScatter,                                                 \
    (const void *, void *, size_t, int, int, NcclComm, StreamHandle))          \
  X(Status, ncclBroadcast,                                                     \
    (const void *, void *, size_t, int, int, NcclComm, StreamHandle))          \
  X(Status, ncclSend,                                                          \
    (const void *, size_t, int, int, NcclComm, StreamHandle))                  \
  X(Status, ncclRecv, (void *, size_t, int, int, NcclComm, StreamHandle))      \
  X(Status, ncclGroupStart, ())                                                \
  X(Status, ncclGroupEnd, ())

struct Nccl {
  Nccl();
  CLEAVE_NCCL_ENTRIES(CLEAVE_DECLARE_ENTRY)

  void check(Status status, const char *call) const;

private:
  Library library;
};

/// Loaded at first use, for all ranks of the process.
const Nccl &nccl();

} // namespace cleave::rt::cuda

/// Calls an entry point of NCCL.
#define CLEAVE_NCCL(name, ...)                                                 \
  ::cleave::rt::cuda::nccl().check(                                            \
      ::cleave::rt::cuda::nccl().name(__VA_ARGS__), #name)

#endif
