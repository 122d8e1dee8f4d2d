//===- Arrays.h - named tensors in files ----------------------------------===//
//
// Reads .npz, .npy, .safetensors and ONNX .pb (TensorProto), and writes the
// first three. The kind is what the file's name says. All data is dense, row-
// major, little-endian. Every error names the file and, where there is one, the
// array. A written file appears complete or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_ARRAYS_H
#define CLEAVE_RUNTIME_ARRAYS_H

#include "runtime/Abi.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleave::rt {

struct Array {
  std::string name; ///< empty for a .npy, which holds no name
  CleaveDtype dtype = CLEAVE_F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

/// Number of elements of a shape; 1 for a scalar.
int64_t elementCount(std::span<const int64_t> shape);

/// All arrays of a file, in its order. Throws Failure (ExitMismatch).
std::vector<Array> readArrays(const std::filesystem::path &file);

/// An array that need not be in memory.
struct ArrayView {
  std::string name; ///< as Array's
  CleaveDtype dtype = CLEAVE_F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
  std::shared_ptr<const void> owner; ///< keeps the data
  bool isMapped = false;             ///< the data are a file's pages
};

/// The same as readArrays, with the data where they lie in the file: those of a
/// .npy and of members of a .npz that are stored, both in row-major order, and
/// of a .safetensors. All others are read into memory.
std::vector<ArrayView> mapArrays(const std::filesystem::path &file);

/// Writes to the side and renames. Throws Failure (ExitDevice).
void writeArrays(const std::filesystem::path &file,
                 std::span<const Array> arrays);

/// What writeArrays would refuse, before any work: a name of no known kind, and
/// a folder where this process may not write. Throw Failure (ExitUsage).
void verifyWritableKind(const std::filesystem::path &file);
void verifyWritablePlace(const std::filesystem::path &file);

/// Likewise: a kind of file that cannot hold an element type, or not so many
/// arrays. One (name, element type) for each array. Throws Failure (ExitUsage).
void verifyHolds(const std::filesystem::path &file,
                 std::span<const std::pair<std::string, CleaveDtype>> arrays);

/// Where a tensor lies in a .safetensors file.
struct SafetensorsEntry {
  std::string name;
  CleaveDtype dtype;
  std::vector<int64_t> shape;
  int64_t offset; ///< from the start of the file
  int64_t bytes;
};

/// The table of a .safetensors file, in the order of offsets, checked against
/// the file's size.
std::vector<SafetensorsEntry>
readSafetensorsTable(const std::filesystem::path &file);

} // namespace cleave::rt

#endif
