//===- Image.cpp - find the PTX of a module image -------------------------===//
//
// A fat binary is a header and entries, each of them PTX (kind 1) or a cubin
// (kind 2), of one architecture, plain or compressed with zstd.
//
//===----------------------------------------------------------------------===//

#include "device/Environment.h"
#include "device/Module.h"

#include <cstring>
#include <zstd.h>

using namespace cudaemu;

namespace {
struct Wrapper {
  uint32_t magic, version;
  const void *data;
};
struct Header {
  uint32_t magic;
  uint16_t version, headerBytes;
  uint64_t bytes;
};
struct Entry {
  uint16_t kind, version;
  uint32_t headerBytes;
  uint64_t bytes; ///< As stored, with padding.
  uint32_t compressedBytes, unknown;
  uint16_t minor, major;
  uint32_t architecture;
  uint32_t nameOffset, nameBytes;
  uint64_t flags, unused;
  uint64_t plainBytes; ///< Once decompressed.
};
constexpr uint32_t wrapperMagic = 0x466243b1, headerMagic = 0xba55ed50;
constexpr uint64_t isLz4 = 0x2000, isZstd = 0x8000;
constexpr int invalidImage = 200, noBinary = 209;
} // namespace

static std::string ptxOfEntry(const Entry &entry, const char *payload) {
  if (entry.flags & isLz4)
    throw ImageError(noBinary,
                     "fat binary: its PTX is compressed with LZ4; use "
                     "fatbinary --compress-mode=size or none");
  if (!(entry.flags & isZstd))
    return std::string(payload, strnlen(payload, entry.bytes));
  std::string ptx(entry.plainBytes, '\0');
  size_t made =
      ZSTD_decompress(ptx.data(), ptx.size(), payload, entry.compressedBytes);
  if (ZSTD_isError(made))
    throw ImageError(invalidImage, std::string("fat binary: its PTX: ") +
                                       ZSTD_getErrorName(made));
  return ptx;
}

/// The PTX for the highest architecture that the device can run.
static std::string ptxOfFatBinary(const char *data) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  const char *at = data + header.headerBytes, *end = at + header.bytes;
  unsigned device = environment().major * 10 + environment().minor;
  const char *best = nullptr;
  unsigned bestArchitecture = 0;
  while (at < end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof entry);
    if (entry.kind == 1 && entry.architecture <= device &&
        entry.architecture >= bestArchitecture) {
      best = at;
      bestArchitecture = entry.architecture;
    }
    at += entry.headerBytes + entry.bytes;
  }
  if (!best)
    throw ImageError(noBinary, "fat binary: no PTX for sm_" +
                                   std::to_string(device) +
                                   " in it, and the emulator runs PTX only");
  Entry entry;
  std::memcpy(&entry, best, sizeof entry);
  return ptxOfEntry(entry, best + entry.headerBytes);
}

std::string cudaemu::ptxOf(const void *image) {
  const auto *data = static_cast<const char *>(image);
  uint32_t magic;
  std::memcpy(&magic, data, sizeof magic);
  if (magic == wrapperMagic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, data, sizeof wrapper);
    return ptxOf(wrapper.data);
  }
  if (magic == headerMagic)
    return ptxOfFatBinary(data);
  if (std::memcmp(data, "\177ELF", 4) == 0)
    throw ImageError(noBinary, "the image is a cubin, and the emulator runs "
                               "PTX only: load the PTX, or a fat binary with "
                               "PTX in it");
  return data;
}
