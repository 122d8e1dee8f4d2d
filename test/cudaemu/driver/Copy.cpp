//===- Copy.cpp - copies and fills ----------------------------------------===//
//
// As on a device, memory of the host that is not page-locked is read before
// the call returns, and written before it returns; page-locked memory is used
// when the stream comes to it.
//
//===----------------------------------------------------------------------===//

#include "driver/Driver.h"

#include <bit>

using namespace cudaemu;
using cuda::DevicePtr;

namespace {
/// Rows of `bytes` bytes, each a pitch after the one before.
struct Copy {
  const char *function;
  uint64_t to, from;
  size_t bytes;
  bool isToHost, isFromHost; ///< The address is one of the host.
  size_t rows = 1, pitchTo = 0, pitchFrom = 0;

  size_t spanTo() const { return (rows - 1) * pitchTo + bytes; }
  size_t spanFrom() const { return (rows - 1) * pitchFrom + bytes; }
};
} // namespace

static bool isKnown(CudaContext &current, uint64_t address, size_t bytes) {
  const Allocation *found = current.context.memory.find(address);
  return found && found->contains(address, bytes);
}

/// Refuses ranges that are not all within an allocation.
static int check(CudaContext &current, const char *function, uint64_t address,
                 size_t bytes) {
  if (isKnown(current, address, bytes))
    return cuda::Success;
  return refuse(function, std::to_string(bytes) + " bytes of the device: " +
                              current.context.memory.describe(address, bytes));
}

static void run(const Copy &copy, const char *staged, Context &context,
                Work &work) {
  for (size_t row = 0; row < copy.rows; ++row) {
    uint64_t to = copy.to + row * copy.pitchTo;
    uint64_t from = copy.from + row * copy.pitchFrom;
    const char *source = staged ? staged + row * copy.pitchFrom
                         : copy.isFromHost
                             ? std::bit_cast<const char *>(from)
                             : context.read(work, from, copy.bytes);
    char *target = copy.isToHost ? std::bit_cast<char *>(to)
                                 : context.write(work, to, copy.bytes);
    std::memmove(target, source, copy.bytes);
  }
}

static int put(CudaContext &current, Stream &stream, const Copy &copy,
               bool waits, std::vector<WorkPtr> &waitsFor) {
  if (copy.bytes == 0 || copy.rows == 0)
    return cuda::Success;
  if (!copy.isToHost)
    if (int error = check(current, copy.function, copy.to, copy.spanTo()))
      return error;
  if (!copy.isFromHost)
    if (int error = check(current, copy.function, copy.from, copy.spanFrom()))
      return error;
  std::shared_ptr<std::string> staged;
  if (copy.isFromHost && !stream.capture &&
      !isKnown(current, copy.from, copy.spanFrom()))
    staged = std::make_shared<std::string>(
        std::bit_cast<const char *>(copy.from), copy.spanFrom());
  Context &context = current.context;
  WorkPtr work = current.streams.put(
      stream, copy.function, [copy, staged, &context](Work &work) {
        run(copy, staged ? staged->data() : nullptr, context, work);
        return true;
      });
  bool isPageable = copy.isToHost && !isKnown(current, copy.to, copy.spanTo());
  if (work && (waits || isPageable))
    waitsFor.push_back(work);
  return cuda::Success;
}

static int copy(const Copy &made, Stream *stream, bool waits) {
  return waitWithContext(
      [&](CudaContext &current, std::vector<WorkPtr> &waitsFor) -> int {
        if (waits && current.context.captures)
          return cuda::CaptureUnsupported;
        return put(current, streamOf(current, stream), made, waits, waitsFor);
      });
}

template <class T>
static int fill(const char *function, DevicePtr to, T value, size_t count,
                Stream *stream, bool waits) {
  return waitWithContext(
      [&](CudaContext &current, std::vector<WorkPtr> &waitsFor) -> int {
        if (waits && current.context.captures)
          return cuda::CaptureUnsupported;
        if (count == 0)
          return cuda::Success;
        if (to % sizeof(T))
          return refuse(function, "the address is misaligned");
        if (int error = check(current, function, to, count * sizeof(T)))
          return error;
        Context &context = current.context;
        WorkPtr work = current.streams.put(
            streamOf(current, stream), function, [=, &context](Work &work) {
              char *at = context.write(work, to, count * sizeof(T));
              std::fill_n(reinterpret_cast<T *>(at), count, value);
              return true;
            });
        if (waits)
          waitsFor.push_back(work);
        return cuda::Success;
      });
}

static uint64_t address(const void *pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

/// Memory of arrays is not supported.
static int copyRows(const cuda::Copy2D &c, cuda::StreamHandle stream,
                    bool waits) {
  for (unsigned type : {c.fromType, c.toType})
    if (type != cuda::HostMemory && type != cuda::DeviceMemory)
      return cuda::NotSupported;
  if (c.rows > 1 && (c.fromPitch < c.bytes || c.toPitch < c.bytes))
    return refuse("cuMemcpy2D", "a pitch is less than the width");
  Copy made{"cuMemcpy2D",
            0,
            0,
            c.bytes,
            c.toType == cuda::HostMemory,
            c.fromType == cuda::HostMemory,
            c.rows,
            c.toPitch,
            c.fromPitch};
  made.to = (made.isToHost ? address(c.toHost) : c.toDevice) +
            c.toY * c.toPitch + c.toX;
  made.from = (made.isFromHost ? address(c.fromHost) : c.fromDevice) +
              c.fromY * c.fromPitch + c.fromX;
  return copy(made, stream, waits);
}

extern "C" {

int cuMemcpyHtoD_v2(DevicePtr to, const void *from, size_t bytes) {
  return copy({"cuMemcpyHtoD", to, address(from), bytes, false, true}, nullptr,
              true);
}
int cuMemcpyDtoH_v2(void *to, DevicePtr from, size_t bytes) {
  return copy({"cuMemcpyDtoH", address(to), from, bytes, true, false}, nullptr,
              true);
}
int cuMemcpyDtoD_v2(DevicePtr to, DevicePtr from, size_t bytes) {
  return copy({"cuMemcpyDtoD", to, from, bytes, false, false}, nullptr, true);
}
int cuMemcpyHtoDAsync_v2(DevicePtr to, const void *from, size_t bytes,
                         cuda::StreamHandle stream) {
  return copy({"cuMemcpyHtoDAsync", to, address(from), bytes, false, true},
              stream, false);
}
int cuMemcpyDtoHAsync_v2(void *to, DevicePtr from, size_t bytes,
                         cuda::StreamHandle stream) {
  return copy({"cuMemcpyDtoHAsync", address(to), from, bytes, true, false},
              stream, false);
}
int cuMemcpyDtoDAsync_v2(DevicePtr to, DevicePtr from, size_t bytes,
                         cuda::StreamHandle stream) {
  return copy({"cuMemcpyDtoDAsync", to, from, bytes, false, false}, stream,
              false);
}

int cuMemcpy2DAsync_v2(const cuda::Copy2D *made, cuda::StreamHandle stream) {
  return copyRows(*made, stream, false);
}
int cuMemcpy2D_v2(const cuda::Copy2D *made) {
  return copyRows(*made, nullptr, true);
}

int cuMemcpyAsync(DevicePtr to, DevicePtr from, size_t bytes,
                  cuda::StreamHandle stream) {
  CudaContext *current = currentContext();
  if (!current)
    return cuda::InvalidContext;
  const Memory &memory = current->context.memory;
  return copy(
      {"cuMemcpyAsync", to, from, bytes, !memory.find(to), !memory.find(from)},
      stream, false);
}
int cuMemcpy(DevicePtr to, DevicePtr from, size_t bytes) {
  CudaContext *current = currentContext();
  if (!current)
    return cuda::InvalidContext;
  const Memory &memory = current->context.memory;
  return copy(
      {"cuMemcpy", to, from, bytes, !memory.find(to), !memory.find(from)},
      nullptr, true);
}

int cuMemsetD8_v2(DevicePtr to, unsigned char value, size_t count) {
  return fill("cuMemsetD8", to, value, count, nullptr, true);
}
int cuMemsetD16_v2(DevicePtr to, unsigned short value, size_t count) {
  return fill("cuMemsetD16", to, value, count, nullptr, true);
}
int cuMemsetD32_v2(DevicePtr to, unsigned value, size_t count) {
  return fill("cuMemsetD32", to, value, count, nullptr, true);
}
int cuMemsetD8Async(DevicePtr to, unsigned char value, size_t count,
                    cuda::StreamHandle stream) {
  return fill("cuMemsetD8Async", to, value, count, stream, false);
}
int cuMemsetD16Async(DevicePtr to, unsigned short value, size_t count,
                     cuda::StreamHandle stream) {
  return fill("cuMemsetD16Async", to, value, count, stream, false);
}
int cuMemsetD32Async(DevicePtr to, unsigned value, size_t count,
                     cuda::StreamHandle stream) {
  return fill("cuMemsetD32Async", to, value, count, stream, false);
}
}
