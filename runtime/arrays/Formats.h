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

/// Parses one .npy image; `where` is what messages call it.
Array parseNpy(std::span<const std::byte> bytes, std::string name,
               const std::string &where);
/// The .npy image of an array.
std::vector<std::byte> formatNpy(const Array &array, const std::string &where);

std::vector<Array> readNpz(const std::filesystem::path &file);
void writeNpz(const std::filesystem::path &file, std::span<const Array> arrays);

std::vector<Array> readSafetensors(const std::filesystem::path &file);
void writeSafetensors(const std::filesystem::path &file,
                      std::span<const Array> arrays);

/// Parses a serialized onnx.TensorProto.
Array parseOnnxTensor(std::span<const std::byte> bytes,
                      const std::string &where);

} // namespace cleave::rt

#endif
