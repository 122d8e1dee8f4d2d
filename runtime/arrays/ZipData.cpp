//===- ZipData.cpp - where members of a zip archive lie -------------------===//
//
// Walks from the end of the archive to its directory, and from there to the
// header in front of each member, whose length the directory does not say.
// APPNOTE.TXT 6.3.10, sections 4.3.7 (header of a member), 4.3.12 (directory),
// 4.3.14 to 4.3.16 (end), 4.5.3 (64-bit sizes).
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"

#include <algorithm>
#include <cstring>

namespace cleave::rt {

namespace {
/// Little-endian numbers of the archive, each checked to lie within.
struct Reader {
  std::span<const std::byte> bytes;
  const std::string &where;

  template <typename T> T read(uint64_t at) const {
    T value;
    if (at > bytes.size() || sizeof(T) > bytes.size() - at)
      fail(ExitMismatch, "{}: its directory is damaged", where);
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    return value;
  }
  void expect(uint64_t at, uint32_t signature) const {
    if (read<uint32_t>(at) != signature)
      fail(ExitMismatch, "{}: its directory is damaged", where);
  }
};

struct Directory {
  uint64_t offset, count;
};
} // namespace

static constexpr uint32_t EndSignature = 0x06054b50;
static constexpr uint32_t WideEndSignature = 0x06064b50;
static constexpr uint32_t WideLocatorSignature = 0x07064b50;
static constexpr uint32_t EntrySignature = 0x02014b50;
static constexpr uint32_t MemberSignature = 0x04034b50;
static constexpr uint64_t EndBytes = 22, LocatorBytes = 20, EntryBytes = 46,
                          MemberBytes = 30, MostComment = 0xffff;
/// In a 32-bit field: the value is in the 64-bit one.
static constexpr uint32_t Wide = 0xffffffff;
static constexpr uint16_t WideExtra = 1;

/// The end record is the last thing but a comment.
static uint64_t findEnd(const Reader &reader) {
  uint64_t size = reader.bytes.size();
  uint64_t most = std::min(size, EndBytes + MostComment);
  for (uint64_t back = EndBytes; back <= most; ++back)
    if (reader.read<uint32_t>(size - back) == EndSignature)
      return size - back;
  fail(ExitMismatch, "{}: no zip archive", reader.where);
}

static Directory findDirectory(const Reader &reader) {
  uint64_t end = findEnd(reader);
  Directory directory{reader.read<uint32_t>(end + 16),
                      reader.read<uint16_t>(end + 10)};
  if (directory.offset != Wide && directory.count != 0xffff)
    return directory;
  reader.expect(end - LocatorBytes, WideLocatorSignature);
  auto wide = reader.read<uint64_t>(end - LocatorBytes + 8);
  reader.expect(wide, WideEndSignature);
  return {reader.read<uint64_t>(wide + 48), reader.read<uint64_t>(wide + 32)};
}

/// The offset of a member's header, from its entry at `at`. Of the 64-bit
/// fields only those are there whose 32-bit ones are full.
static uint64_t readOffset(const Reader &reader, uint64_t at) {
  auto offset = reader.read<uint32_t>(at + 42);
  if (offset != Wide)
    return offset;
  uint64_t extra = at + EntryBytes + reader.read<uint16_t>(at + 28);
  uint64_t end = extra + reader.read<uint16_t>(at + 30);
  while (extra < end && reader.read<uint16_t>(extra) != WideExtra)
    extra += 4 + reader.read<uint16_t>(extra + 2);
  uint64_t field = extra + 4;
  for (uint64_t narrow : {at + 24, at + 20})
    if (reader.read<uint32_t>(narrow) == Wide)
      field += 8;
  return reader.read<uint64_t>(field);
}

std::vector<uint64_t> findZipData(std::span<const std::byte> archive,
                                  const std::string &where) {
  Reader reader{archive, where};
  auto [at, count] = findDirectory(reader);
  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i < count; ++i) {
    reader.expect(at, EntrySignature);
    uint64_t member = readOffset(reader, at);
    reader.expect(member, MemberSignature);
    offsets.push_back(member + MemberBytes +
                      reader.read<uint16_t>(member + 26) +
                      reader.read<uint16_t>(member + 28));
    at += EntryBytes + reader.read<uint16_t>(at + 28) +
          reader.read<uint16_t>(at + 30) + reader.read<uint16_t>(at + 32);
  }
  return offsets;
}

} // namespace cleave::rt
