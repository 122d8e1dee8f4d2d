//===- Image.cpp - find the PTX of a module image -------------------------===//
//
// A fat binary is a header and entries, each of them PTX (kind 1) or a cubin
// (kind 2), of one architecture, plain or compressed with LZ4.
//
//===----------------------------------------------------------------------===//

#include "device/Environment.h"
#include "device/Module.h"

#include <cstring>

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

/// LZ4's block format: literals and copies of what came before.
static std::string unpackLz4(const uint8_t *in, size_t bytes, size_t plain) {
  std::string out;
  const uint8_t *end = in + bytes;
  auto length = [&](size_t value) {
    if (value == 15)
      for (uint8_t more = 255; more == 255 && in < end; value += more)
        more = *in++;
    return value;
  };
  while (in < end && out.size() < plain) {
    uint8_t token = *in++;
    size_t literals = length(token >> 4);
    if (literals > static_cast<size_t>(end - in))
      throw ImageError(invalidImage, "fat binary: broken compressed PTX");
    out.append(reinterpret_cast<const char *>(in), literals);
    in += literals;
    if (end - in < 2)
      break;
    size_t distance = in[0] | in[1] << 8;
    in += 2;
    size_t count = length(token & 15) + 4;
    if (distance == 0 || distance > out.size())
      throw ImageError(invalidImage, "fat binary: broken compressed PTX");
    for (size_t k = 0; k < count; ++k)
      out.push_back(out[out.size() - distance]);
  }
  return out;
}

static std::string ptxOfEntry(const Entry &entry, const char *payload) {
  if (entry.flags & isZstd)
    throw ImageError(noBinary,
                     "fat binary: its PTX is compressed with zstd; use "
                     "fatbinary --compress-mode=speed or --no-compress");
  if (entry.flags & isLz4)
    return unpackLz4(reinterpret_cast<const uint8_t *>(payload),
                     entry.compressedBytes, entry.plainBytes);
  return std::string(payload, strnlen(payload, entry.bytes));
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
