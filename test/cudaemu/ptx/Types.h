//===- Types.h - the fundamental types of PTX -----------------------------===//
#pragma once

#include <cstdint>
#include <string_view>

namespace cudaemu::ptx {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };

/// Bytes of a value; a predicate counts as a 4-byte mask of lanes.
unsigned bytesOf(Type type);
/// The type of a modifier such as `f32`; None when it is not a type.
Type typeNamed(std::string_view name);

inline bool isFloat(Type t) { return t >= Type::F16; }
inline bool isSigned(Type t) { return t >= Type::S8 && t <= Type::S64; }

} // namespace cudaemu::ptx
