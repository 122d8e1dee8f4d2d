//===- Dtypes.cpp - element types of compiled programs --------------------===//
//
// The ABI's enum, and the names in files, in its order.
//
//===----------------------------------------------------------------------===//

#include "codegen/Dtypes.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace cleave;
using namespace mlir;

static constexpr struct {
  const char *manifest, *safetensors;
} Names[] = {{"f32", "F32"}, {"f64", "F64"},   {"f16", "F16"}, {"bf16", "BF16"},
             {"i8", "I8"},   {"u8", "U8"},     {"i16", "I16"}, {"i32", "I32"},
             {"i64", "I64"}, {"bool", "BOOL"}, {"u16", "U16"}, {"u32", "U32"},
             {"u64", "U64"}};

StringRef cleave::getManifestName(CleaveDtype dtype) {
  return Names[dtype].manifest;
}

StringRef cleave::getSafetensorsName(CleaveDtype dtype) {
  return Names[dtype].safetensors;
}

FailureOr<CleaveDtype> cleave::getDtype(Operation *user, Type type) {
  if (type.isF32())
    return CLEAVE_F32;
  if (type.isF64())
    return CLEAVE_F64;
  if (type.isF16())
    return CLEAVE_F16;
  if (type.isBF16())
    return CLEAVE_BF16;
  if (type.isInteger(1))
    return CLEAVE_BOOL;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? CLEAVE_U8 : CLEAVE_I8;
  if (type.isInteger(16))
    return type.isUnsignedInteger() ? CLEAVE_U16 : CLEAVE_I16;
  if (type.isInteger(32))
    return type.isUnsignedInteger() ? CLEAVE_U32 : CLEAVE_I32;
  if (type.isInteger(64))
    return type.isUnsignedInteger() ? CLEAVE_U64 : CLEAVE_I64;
  return user->emitError() << "element type " << type
                           << " has no form in a compiled program";
}
