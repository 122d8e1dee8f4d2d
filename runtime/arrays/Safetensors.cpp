//===- Safetensors.cpp - the safetensors format ---------------------------===//
//
// An 8-byte little-endian header length, a JSON table {name: {dtype, shape,
// data_offsets}}, then the data. Written with the header padded by blanks, so
// that data starts at a multiple of 64 bytes.
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

namespace cleave::rt {

using Json = nlohmann::ordered_json;
static constexpr uint64_t MaxHeaderBytes = 100'000'000;

static SafetensorsEntry parseEntry(const std::string &name, const Json &value,
                                   int64_t dataBegin, const std::string &file) {
  std::string where = fmt::format("'{}', array '{}'", file, name);
  const std::string &spelled = value.at("dtype").get_ref<const std::string &>();
  const DtypeInfo *dtype = dtypeBySafetensors(spelled);
  if (!dtype)
    fail(ExitMismatch, "{}: element type '{}' is not supported", where,
         spelled);
  SafetensorsEntry entry{name, dtype->dtype, value.at("shape"), 0, 0};
  int64_t begin = value.at("data_offsets").at(0);
  int64_t end = value.at("data_offsets").at(1);
  entry.offset = dataBegin + begin;
  entry.bytes = end - begin;
  int64_t expected = elementCount(entry.shape) * dtype->bytes;
  if (begin < 0 || entry.bytes != expected)
    fail(ExitMismatch, "{}: has {} of data, expected {}", where,
         counted(entry.bytes, "byte"), expected);
  return entry;
}

std::vector<SafetensorsEntry>
readSafetensorsTable(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  uint64_t length = 0, total = std::filesystem::file_size(file);
  stream.read(reinterpret_cast<char *>(&length), sizeof(length));
  if (!stream || length > MaxHeaderBytes || 8 + length > total)
    fail(ExitMismatch, "'{}' is no safetensors file or is cut off",
         file.string());
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));

  std::vector<SafetensorsEntry> entries;
  try {
    Json header = Json::parse(text);
    for (const auto &[name, value] : header.items())
      if (name != "__metadata__")
        entries.push_back(parseEntry(
            name, value, static_cast<int64_t>(8 + length), file.string()));
  } catch (const Json::exception &error) {
    fail(ExitMismatch, "'{}' has a bad safetensors header: {}", file.string(),
         error.what());
  }
  for (const SafetensorsEntry &entry : entries)
    if (static_cast<uint64_t>(entry.offset + entry.bytes) > total)
      fail(ExitMismatch, "'{}', array '{}': data ends at byte {} of {}",
           file.string(), entry.name, entry.offset + entry.bytes, total);
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) {
    return std::tie(a.offset, a.name) < std::tie(b.offset, b.name);
  });
  return entries;
}

std::vector<Array> readSafetensors(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<Array> arrays;
  for (SafetensorsEntry &entry : readSafetensorsTable(file)) {
    Array &array = arrays.emplace_back(
        Array{std::move(entry.name), entry.dtype, std::move(entry.shape),
              std::vector<std::byte>(entry.bytes)});
    stream.seekg(entry.offset);
    stream.read(reinterpret_cast<char *>(array.data.data()), entry.bytes);
    if (!stream)
      fail(ExitMismatch, "cannot read '{}', array '{}'", file.string(),
           array.name);
  }
  return arrays;
}

void writeSafetensors(const std::filesystem::path &file,
                      std::span<const Array> arrays) {
  Json header = Json::object();
  int64_t offset = 0;
  for (const Array &array : arrays) {
    int64_t end = offset + static_cast<int64_t>(array.data.size());
    header[array.name] = {{"dtype", dtypeInfo(array.dtype).safetensors},
                          {"shape", array.shape},
                          {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  uint64_t length = text.size();
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char *>(&length), sizeof(length));
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (const Array &array : arrays)
    stream.write(reinterpret_cast<const char *>(array.data.data()),
                 static_cast<std::streamsize>(array.data.size()));
  stream.close();
  if (!stream)
    fail(ExitDevice, "cannot write '{}': {}", file.string(),
         std::strerror(errno));
}

} // namespace cleave::rt
