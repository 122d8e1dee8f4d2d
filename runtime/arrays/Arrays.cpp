//===- Arrays.cpp - choose the format by the file's name ------------------===//
//
// Writing goes to a file beside the target, renamed when it is complete.
//
//===----------------------------------------------------------------------===//

#include "runtime/Arrays.h"

#include "runtime/arrays/Formats.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/MappedFile.h"
#include "runtime/support/ReplaceFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace cleave::rt {

int64_t elementCount(std::span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::vector<std::byte> readBytes(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  std::streamoff size = stream.tellg();
  if (size < 0)
    fail(ExitMismatch, "cannot read '{}': it has no size", file.string());
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  stream.seekg(0);
  stream.read(reinterpret_cast<char *>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
  if (!stream)
    fail(ExitMismatch, "cannot read '{}'", file.string());
  return bytes;
}

static void writeNpyFile(const std::filesystem::path &file,
                         std::span<const Array> arrays) {
  std::vector<std::byte> bytes = formatNpy(arrays[0]);
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream)
    fail(ExitDevice, "cannot write '{}': {}", file.string(),
         std::strerror(errno));
}

static void verifyNoFolder(const std::filesystem::path &file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    fail(ExitMismatch, "cannot read '{}': it is a folder", file.string());
}

std::vector<Array> readArrays(const std::filesystem::path &file) {
  std::filesystem::path kind = file.extension();
  verifyNoFolder(file);
  if (kind == ".npz")
    return readNpz(file);
  if (kind == ".npy")
    return {parseNpy(readBytes(file), "", "'" + file.string() + "'")};
  if (kind == ".safetensors")
    return readSafetensors(file);
  if (kind == ".pb")
    return {parseOnnxTensor(readBytes(file), "'" + file.string() + "'")};
  fail(ExitUsage,
       "'{}' is of no known kind, expected .npz, .npy, .safetensors or .pb",
       file.string());
}

ArrayView toView(Array array) {
  auto owner = std::make_shared<const Array>(std::move(array));
  return {owner->name, owner->dtype, owner->shape, owner->data, owner, false};
}

static std::vector<ArrayView>
mapSafetensors(const std::filesystem::path &file) {
  std::vector<SafetensorsEntry> entries = readSafetensorsTable(file);
  auto mapped = std::make_shared<MappedFile>(file);
  std::vector<ArrayView> arrays;
  for (SafetensorsEntry &entry : entries)
    arrays.push_back(
        {std::move(entry.name), entry.dtype, std::move(entry.shape),
         mapped->bytes().subspan(entry.offset, entry.bytes), mapped, true});
  return arrays;
}

std::vector<ArrayView> mapArrays(const std::filesystem::path &file) {
  std::filesystem::path kind = file.extension();
  verifyNoFolder(file);
  if (kind == ".npz")
    return mapNpz(file);
  if (kind == ".safetensors")
    return mapSafetensors(file);
  if (kind == ".npy") {
    auto mapped = std::make_shared<MappedFile>(file);
    return {viewNpy(mapped->bytes(), "", "'" + file.string() + "'", mapped)};
  }
  std::vector<ArrayView> arrays;
  for (Array &array : readArrays(file))
    arrays.push_back(toView(std::move(array)));
  return arrays;
}

void verifyWritableKind(const std::filesystem::path &file) {
  std::filesystem::path kind = file.extension();
  if (kind != ".npz" && kind != ".npy" && kind != ".safetensors")
    fail(ExitUsage,
         "cannot write '{}': expected a name in .npz, .npy or .safetensors",
         file.string());
}

void verifyWritablePlace(const std::filesystem::path &file) {
  std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : ".";
  // With a slash: of anything but a folder it says so.
  if (access((folder / "").c_str(), W_OK | X_OK) != 0)
    fail(ExitUsage, "cannot write '{}': folder '{}': {}", file.string(),
         folder.string(), std::strerror(errno));
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    fail(ExitUsage, "cannot write '{}': it is a folder", file.string());
}

void verifyHolds(const std::filesystem::path &file,
                 std::span<const std::pair<std::string, CleaveDtype>> arrays) {
  std::filesystem::path kind = file.extension();
  if (kind == ".npy" && arrays.size() != 1)
    fail(ExitUsage,
         "'{}' can hold one array, but there are {}; use .npz or .safetensors",
         file.string(), arrays.size());
  for (const auto &[name, dtype] : arrays)
    if (kind != ".safetensors" && dtypeInfo(dtype).numpy.empty())
      fail(ExitUsage,
           "'{}': array '{}' is {}, which numpy's formats cannot hold; use "
           ".safetensors",
           file.string(), name, dtypeInfo(dtype).name);
}

void writeArrays(const std::filesystem::path &file,
                 std::span<const Array> arrays) {
  verifyWritableKind(file);
  std::vector<std::pair<std::string, CleaveDtype>> heads;
  for (const Array &array : arrays)
    heads.emplace_back(array.name, array.dtype);
  verifyHolds(file, heads);
  std::filesystem::path kind = file.extension();
  replaceFile(file, [&](const std::filesystem::path &side) {
    if (kind == ".npz")
      writeNpz(side, arrays);
    else if (kind == ".npy")
      writeNpyFile(side, arrays);
    else
      writeSafetensors(side, arrays);
  });
}

} // namespace cleave::rt
