//===- TensorFiles.cpp - whole tensors over several .safetensors files ----===//

#include "runtime/program/TensorFiles.h"

#include "runtime/Arrays.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/Error.h"
#include "runtime/support/ReplaceFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cleave::rt {

using Json = nlohmann::ordered_json;

static int64_t bytesOf(const TensorPlace &tensor) {
  return elementCount(tensor.shape) * dtypeBytes(tensor.dtype);
}

/// The table of one file, padded so that data starts at a multiple of 64.
static std::string headerOf(const TensorPlaces &tensors,
                            const std::string &file, int64_t dataBegin) {
  Json table = Json::object();
  table["__metadata__"] = {{"format", "pt"}};
  for (const auto &[name, tensor] : tensors)
    if (tensor.file == file) {
      int64_t begin = tensor.offset - dataBegin;
      table[name] = {{"dtype", dtypeInfo(tensor.dtype).safetensors},
                     {"shape", tensor.shape},
                     {"data_offsets", {begin, begin + bytesOf(tensor)}}};
    }
  std::string text = table.dump();
  text.append((64 - (8 + text.size()) % 64) % 64, ' ');
  return text;
}

void placeTensors(TensorPlaces &tensors, const std::string &name) {
  constexpr int64_t MostBytes = 5'000'000'000;
  std::vector<std::vector<TensorPlace *>> files(1);
  int64_t bytes = 0;
  for (auto &[tensorName, tensor] : tensors) {
    if (bytes > 0 && bytes + bytesOf(tensor) > MostBytes) {
      files.emplace_back();
      bytes = 0;
    }
    tensor.offset = bytes;
    bytes += bytesOf(tensor);
    files.back().push_back(&tensor);
  }
  for (size_t i = 0; i < files.size(); ++i) {
    std::string file =
        fmt::format("{}-{:05}-of-{:05}.safetensors", name, i + 1, files.size());
    for (TensorPlace *tensor : files[i])
      tensor->file = file;
    int64_t begin = 8 + static_cast<int64_t>(headerOf(tensors, file, 0).size());
    for (TensorPlace *tensor : files[i])
      tensor->offset += begin;
  }
}

void makeTensorFiles(const std::filesystem::path &folder,
                     const std::string &name, const TensorPlaces &tensors) {
  Json index = {{"metadata", {{"total_size", 0}}},
                {"weight_map", Json::object()}};
  int64_t total = 0;
  std::map<std::string, int64_t> ends;
  for (const auto &[tensorName, tensor] : tensors) {
    index["weight_map"][tensorName] = tensor.file;
    total += bytesOf(tensor);
    int64_t &end = ends[tensor.file];
    end = std::max(end, tensor.offset + bytesOf(tensor));
  }
  index["metadata"]["total_size"] = total;
  for (const auto &[file, end] : ends) {
    int64_t begin = end;
    for (const auto &[tensorName, tensor] : tensors)
      if (tensor.file == file)
        begin = std::min(begin, tensor.offset);
    std::string header = headerOf(tensors, file, begin);
    uint64_t length = header.size();
    replaceFile(folder / file,
                std::string(reinterpret_cast<const char *>(&length), 8) +
                    header);
    std::error_code error;
    std::filesystem::resize_file(folder / file, end, error);
    if (error)
      fail(ExitDevice, "cannot write '{}': {}", (folder / file).string(),
           error.message());
  }
  replaceFile(folder / (name + ".safetensors.index.json"),
              index.dump(2) + "\n");
}

static void addTable(TensorPlaces &tensors, const std::filesystem::path &folder,
                     const std::string &file) {
  for (SafetensorsEntry &entry : readSafetensorsTable(folder / file))
    tensors[entry.name] = {entry.dtype, std::move(entry.shape), file,
                           entry.offset};
}

TensorPlaces readTensorPlaces(const std::filesystem::path &folder,
                              const std::string &name) {
  TensorPlaces tensors;
  std::filesystem::path file = folder / (name + ".safetensors.index.json");
  std::string lone = name + ".safetensors";
  if (!std::filesystem::exists(file) &&
      std::filesystem::exists(folder / lone)) {
    addTable(tensors, folder, lone);
    return tensors;
  }
  std::ifstream stream(file);
  if (!stream)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  std::map<std::string, std::string> weightMap;
  try {
    weightMap = nlohmann::json::parse(stream)
                    .at("weight_map")
                    .get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception &error) {
    fail(ExitMismatch, "'{}': {}", file.string(), error.what());
  }
  std::map<std::string, bool> isRead;
  for (const auto &[tensor, part] : weightMap)
    if (!std::exchange(isRead[part], true))
      addTable(tensors, folder, part);
  for (const auto &[tensor, part] : weightMap)
    if (!tensors.contains(tensor))
      fail(ExitMismatch, "'{}' does not hold '{}', as '{}' says",
           (folder / part).string(), tensor, file.string());
  return tensors;
}

//===-- Parts -------------------------------------------------------------===//

PartFile::PartFile(const std::filesystem::path &file, Mode mode) : file(file) {
  descriptor =
      open(file.c_str(), (mode == Read ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
  if (descriptor < 0)
    fail(mode == Read ? ExitMismatch : ExitDevice, "cannot open '{}': {}",
         file.string(), std::strerror(errno));
}

PartFile::~PartFile() { close(descriptor); }

void PartFile::read(std::byte *to, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t done = pread(descriptor, to, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      fail(ExitMismatch, "cannot read '{}': {}", file.string(),
           done < 0 ? std::strerror(errno) : "it is cut off");
    to += done;
    bytes -= done;
    offset += done;
  }
}

void PartFile::write(const std::byte *from, int64_t bytes, int64_t offset) {
  while (bytes > 0) {
    ssize_t done = pwrite(descriptor, from, bytes, offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      fail(ExitDevice, "cannot write '{}': {}", file.string(),
           std::strerror(errno));
    from += done;
    bytes -= done;
    offset += done;
  }
}

void PartFile::sync() {
  if (fsync(descriptor) != 0)
    fail(ExitDevice, "cannot write '{}': {}", file.string(),
         std::strerror(errno));
}

} // namespace cleave::rt
