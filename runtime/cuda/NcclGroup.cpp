//===- NcclGroup.cpp - the collectives of one group by NCCL ---------------===//

#include "runtime/cuda/NcclGroup.h"

#include "runtime/support/Dtype.h"

namespace cleave::rt::cuda {

/// The library's type for a reduction.
static int reducedType(int32_t dtype, const char *op) {
  switch (dtype) {
  case CLEAVE_F32:
    return NcclF32;
  case CLEAVE_F64:
    return NcclF64;
  case CLEAVE_F16:
    return NcclF16;
  case CLEAVE_BF16:
    return NcclBf16;
  case CLEAVE_I8:
    return NcclI8;
  case CLEAVE_U8:
  case CLEAVE_BOOL:
    return NcclU8;
  case CLEAVE_I32:
    return NcclI32;
  case CLEAVE_U32:
    return NcclU32;
  case CLEAVE_I64:
    return NcclI64;
  case CLEAVE_U64:
    return NcclU64;
  default:
    fail(ExitPlan, "node '{}': NCCL does not reduce {}", op,
         dtypeInfo(dtype).name);
  }
}

static int reducingOp(int32_t reduction) {
  switch (reduction) {
  case CLEAVE_MAX:
    return NcclMax;
  case CLEAVE_MIN:
    return NcclMin;
  case CLEAVE_PROD:
    return NcclProd;
  default:
    return NcclSum;
  }
}

static const std::byte *at(const void *base, size_t bytes) {
  return static_cast<const std::byte *>(base) + bytes;
}
static std::byte *at(void *base, size_t bytes) {
  return static_cast<std::byte *>(base) + bytes;
}

void NcclGroup::copyWhole(const void *in, void *out, size_t bytes) {
  if (in != out && bytes)
    CLEAVE_DRIVER(cuMemcpyDtoDAsync_v2, toDevice(out), toDevice(in), bytes,
                  step.handle);
}

void NcclGroup::moveParts(const void *from, void *to, int64_t outer,
                          size_t chunkBytes, bool isBack) {
  size_t rowBytes = chunkBytes * size(), partBytes = chunkBytes * outer;
  for (int part = 0; part < size(); ++part) {
    Copy2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = MemoryOnDevice;
    copy.srcDevice =
        toDevice(at(from, part * (isBack ? partBytes : chunkBytes)));
    copy.dstDevice = toDevice(at(to, part * (isBack ? chunkBytes : partBytes)));
    copy.srcPitch = isBack ? chunkBytes : rowBytes;
    copy.dstPitch = isBack ? rowBytes : chunkBytes;
    copy.WidthInBytes = chunkBytes;
    copy.Height = outer;
    CLEAVE_DRIVER(cuMemcpy2DAsync_v2, &copy, own.handle);
  }
}

void NcclGroup::finish() {
  if (isUnderWay)
    step.follow(own);
  isUnderWay = false;
}

/// Ranks meet on the host; on the device there is nothing to wait for.
void NcclGroup::barrier(const char *op) {
  fail(ExitPlan, "'{}': groups of a device have no barrier", op);
}

void NcclGroup::allReduce(const void *in, void *out, int64_t count,
                          int32_t dtype, int32_t reduction, const char *op) {
  if (!comm)
    return copyWhole(in, out, count * dtypeBytes(dtype));
  queue([&] {
    CLEAVE_NCCL(ncclAllReduce, in, out, count, reducedType(dtype, op),
                reducingOp(reduction), comm, own.handle);
  });
}

void NcclGroup::allGather(const void *in, void *out, int64_t outer,
                          int64_t chunk, int32_t dtype, const char *op) {
  size_t chunkBytes = chunk * dtypeBytes(dtype), bytes = outer * chunkBytes;
  if (!comm)
    return copyWhole(in, out, bytes);
  void *whole = outer == 1 ? out : scratch.reserve(bytes * size());
  queue([&] {
    CLEAVE_NCCL(ncclAllGather, in, whole, bytes, NcclI8, comm, own.handle);
    if (outer != 1)
      moveParts(whole, out, outer, chunkBytes, /*isBack=*/true);
  });
}

void NcclGroup::reduceScatter(const void *in, void *out, int64_t outer,
                              int64_t chunk, int32_t dtype, int32_t reduction,
                              const char *op) {
  size_t chunkBytes = chunk * dtypeBytes(dtype), bytes = outer * chunkBytes;
  if (!comm)
    return copyWhole(in, out, bytes);
  void *parts = outer == 1 ? nullptr : scratch.reserve(bytes * size());
  queue([&] {
    if (parts)
      moveParts(in, parts, outer, chunkBytes, /*isBack=*/false);
    CLEAVE_NCCL(ncclReduceScatter, parts ? parts : in, out, outer * chunk,
                reducedType(dtype, op), reducingOp(reduction), comm,
                own.handle);
  });
}

void NcclGroup::allToAll(const void *in, void *out, int64_t chunk,
                         int32_t dtype, const char *op) {
  size_t bytes = chunk * dtypeBytes(dtype);
  if (!comm)
    return copyWhole(in, out, bytes);
  // In place, a part would be overwritten before it is sent.
  void *copy = in == out ? scratch.reserve(bytes * size()) : nullptr;
  queue([&] {
    if (copy)
      CLEAVE_DRIVER(cuMemcpyDtoDAsync_v2, toDevice(copy), toDevice(in),
                    bytes * size(), own.handle);
    const void *from = copy ? copy : in;
    CLEAVE_NCCL(ncclGroupStart);
    for (int peer = 0; peer < size(); ++peer) {
      CLEAVE_NCCL(ncclSend, at(from, peer * bytes), bytes, NcclI8, peer, comm,
                  own.handle);
      CLEAVE_NCCL(ncclRecv, at(out, peer * bytes), bytes, NcclI8, peer, comm,
                  own.handle);
    }
    CLEAVE_NCCL(ncclGroupEnd);
  });
}

void NcclGroup::broadcast(void *buffer, int64_t count, int32_t dtype,
                          int32_t root, const char *op) {
  if (!comm)
    return;
  queue([&] {
    CLEAVE_NCCL(ncclBroadcast, buffer, buffer, count * dtypeBytes(dtype),
                NcclI8, root, comm, own.handle);
  });
}

} // namespace cleave::rt::cuda
