//===- Formats.h - one pair of functions per file format ------------------===//
//
// Private to runtime/arrays: Arrays.cpp chooses among these by file name.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_ARRAYS_FORMATS_H
#define CLEAVE_RUNTIME_ARRAYS_FORMATS_H

#include "runtime/Arrays.h"
#include "runtime/support/Error.h"

namespace cleave::rt {

/// The whole file.
std::vector<std::byte> readBytes(const std::filesystem::path &file);

/// What the header of a .npy image says.
struct NpyLayout {
  CleaveDtype dtype;
  bool isFortran; ///< column-major, and that is another order than row-major
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// Parses one .npy image; `where` is what messages call it.
NpyLayout parseNpyLayout(std::span<const std::byte> bytes,
                         const std::string &where);
Array parseNpy(std::span<const std::byte> bytes, std::string name,
               const std::string &where);
/// The .npy image of an array, whose type numpy has.
std::vector<std::byte> formatNpy(const Array &array);

std::vector<Array> readNpz(const std::filesystem::path &file);
std::vector<ArrayView> mapNpz(const std::filesystem::path &file);
void writeNpz(const std::filesystem::path &file, std::span<const Array> arrays);

std::vector<Array> readSafetensors(const std::filesystem::path &file);
void writeSafetensors(const std::filesystem::path &file,
                      std::span<const Array> arrays);

/// Where the data of each member of a zip archive begin, in the order of its
/// directory; `where` is what messages call it. (libzip does not tell.)
std::vector<uint64_t> findZipData(std::span<const std::byte> archive,
                                  const std::string &where);

/// The array with its data in memory that the view owns.
ArrayView toView(Array array);
/// The array of a .npy image that lies in `owner`'s memory.
ArrayView viewNpy(std::span<const std::byte> bytes, std::string name,
                  const std::string &where, std::shared_ptr<const void> owner);

/// Parses a serialized onnx.TensorProto.
Array parseOnnxTensor(std::span<const std::byte> bytes,
                      const std::string &where);

} // namespace cleave::rt

#endif
