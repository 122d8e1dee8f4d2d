//===- TensorFiles.h - whole tensors over several .safetensors files ------===//
//
// As Hugging Face lays a model out: NAME-00001-of-0000N.safetensors beside
// NAME.safetensors.index.json, which says where each tensor is. Files are made
// with their tables and full size first; parts of tensors are then written in
// place by whoever has them.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_PROGRAM_TENSORFILES_H
#define CLEAVE_RUNTIME_PROGRAM_TENSORFILES_H

#include "runtime/Abi.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cleave::rt {

/// A whole tensor and its place.
struct TensorPlace {
  CleaveDtype dtype = CLEAVE_F32;
  std::vector<int64_t> shape;
  std::string file;   ///< beside the index
  int64_t offset = 0; ///< of its first byte in the file
};

/// By name.
using TensorPlaces = std::map<std::string, TensorPlace>;

/// Gives each tensor a place, in order of names, in files of at most about 5
/// GB.
void placeTensors(TensorPlaces &tensors, const std::string &name);

/// Makes the files, full of zeros, and the index. Throws Failure (ExitDevice).
void makeTensorFiles(const std::filesystem::path &folder,
                     const std::string &name, const TensorPlaces &tensors);

/// The tensors of an index, or of a lone NAME.safetensors. Throws Failure
/// (ExitMismatch).
TensorPlaces readTensorPlaces(const std::filesystem::path &folder,
                              const std::string &name);

/// An open file, for parts of tensors. Failures name the file.
class PartFile {
public:
  enum Mode { Read, Write };
  PartFile(const std::filesystem::path &file, Mode mode);
  ~PartFile();
  PartFile(const PartFile &) = delete;
  PartFile &operator=(const PartFile &) = delete;

  void read(std::byte *to, int64_t bytes, int64_t offset);
  void write(const std::byte *from, int64_t bytes, int64_t offset);
  /// Returns when all that was written is on disk.
  void sync();

private:
  std::filesystem::path file;
  int descriptor;
};

} // namespace cleave::rt

#endif
