//===- Dtype.cpp - the table of element types -----------------------------===//
//
// Rows in the order of CleaveDtype, so that a type is its own index.
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Dtype.h"

#include <array>

namespace cleave::rt {

static constexpr std::array<DtypeInfo, 13> Table = {{
    {CLEAVE_F32, "f32", "<f4", "F32", 1, 4},
    {CLEAVE_F64, "f64", "<f8", "F64", 11, 8},
    {CLEAVE_F16, "f16", "<f2", "F16", 10, 2},
    {CLEAVE_BF16, "bf16", "", "BF16", 16, 2},
    {CLEAVE_I8, "i8", "|i1", "I8", 3, 1},
    {CLEAVE_U8, "u8", "|u1", "U8", 2, 1},
    {CLEAVE_I16, "i16", "<i2", "I16", 5, 2},
    {CLEAVE_I32, "i32", "<i4", "I32", 6, 4},
    {CLEAVE_I64, "i64", "<i8", "I64", 7, 8},
    {CLEAVE_BOOL, "bool", "|b1", "BOOL", 9, 1},
    {CLEAVE_U16, "u16", "<u2", "U16", 4, 2},
    {CLEAVE_U32, "u32", "<u4", "U32", 12, 4},
    {CLEAVE_U64, "u64", "<u8", "U64", 13, 8},
}};

const DtypeInfo &dtypeInfo(int32_t dtype) {
  if (dtype < 0 || dtype >= static_cast<int32_t>(Table.size()))
    fail(ExitPlan, "unknown element type {}", dtype);
  return Table[dtype];
}

template <typename Predicate>
static const DtypeInfo *find(const Predicate &matches) {
  for (const DtypeInfo &info : Table)
    if (matches(info))
      return &info;
  return nullptr;
}

const DtypeInfo *dtypeByName(std::string_view name) {
  return find([&](const DtypeInfo &info) { return info.name == name; });
}
const DtypeInfo *dtypeByNumpy(std::string_view name) {
  return find([&](const DtypeInfo &info) {
    return !info.numpy.empty() && info.numpy == name;
  });
}
const DtypeInfo *dtypeBySafetensors(std::string_view name) {
  return find([&](const DtypeInfo &info) { return info.safetensors == name; });
}
const DtypeInfo *dtypeByOnnx(int64_t code) {
  return find([&](const DtypeInfo &info) { return info.onnx == code; });
}

} // namespace cleave::rt
