//===- Dtype.h - sizes, names and C++ types of element types --------------===//
//
// One table for the element types of Abi.h, and a dispatch from the run-time
// value to the C++ type. bf16 and f16 are storage types that convert to float.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_DTYPE_H
#define CLEAVE_RUNTIME_SUPPORT_DTYPE_H

#include "runtime/Abi.h"
#include "runtime/support/Error.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cleave::rt {

/// What files and messages call an element type, and its size.
struct DtypeInfo {
  CleaveDtype dtype;
  std::string_view name;        ///< as in manifest.json: "f32"
  std::string_view numpy;       ///< as in .npy headers; empty: numpy has none
  std::string_view safetensors; ///< as in .safetensors headers
  int onnx;                     ///< TensorProto.DataType
  int64_t bytes;
};

/// The entry of `dtype`; a failure when it isn't one of CleaveDtype.
const DtypeInfo &dtypeInfo(int32_t dtype);
/// Looks a name up by one of the spellings above; null when unknown.
const DtypeInfo *dtypeByName(std::string_view name);
const DtypeInfo *dtypeByNumpy(std::string_view name);
const DtypeInfo *dtypeBySafetensors(std::string_view name);
const DtypeInfo *dtypeByOnnx(int64_t code);

inline int64_t dtypeBytes(int32_t dtype) { return dtypeInfo(dtype).bytes; }

struct BFloat16 {
  uint16_t bits;
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  /// Rounds to nearest even; a NaN stays one.
  static BFloat16 from(float value) {
    uint32_t wide = std::bit_cast<uint32_t>(value);
    if (value != value)
      return {static_cast<uint16_t>((wide >> 16) | 0x40)};
    return {static_cast<uint16_t>((wide + 0x7fff + ((wide >> 16) & 1)) >> 16)};
  }
};

struct Float16 {
  uint16_t bits;
  explicit operator float() const {
    return static_cast<float>(std::bit_cast<_Float16>(bits));
  }
  static Float16 from(float value) {
    return {std::bit_cast<uint16_t>(static_cast<_Float16>(value))};
  }
};

/// Calls `fn` with a value-initialised object of the C++ type of `dtype`.
template <typename Fn> decltype(auto) dispatchDtype(int32_t dtype, Fn &&fn) {
  switch (dtype) {
  case CLEAVE_F32:
    return fn(float{});
  case CLEAVE_F64:
    return fn(double{});
  case CLEAVE_F16:
    return fn(Float16{});
  case CLEAVE_BF16:
    return fn(BFloat16{});
  case CLEAVE_I8:
    return fn(int8_t{});
  case CLEAVE_U8:
    return fn(uint8_t{});
  case CLEAVE_I16:
    return fn(int16_t{});
  case CLEAVE_I32:
    return fn(int32_t{});
  case CLEAVE_I64:
    return fn(int64_t{});
  case CLEAVE_BOOL:
    return fn(bool{});
  case CLEAVE_U16:
    return fn(uint16_t{});
  case CLEAVE_U32:
    return fn(uint32_t{});
  case CLEAVE_U64:
    return fn(uint64_t{});
  }
  fail(ExitPlan, "unknown element type {}", dtype);
}

} // namespace cleave::rt

#endif
