//===- WireScan.h - cut weights out of a serialized model -----------------===//
//
// Weights must not go through the protobuf parser: it copies them, and refuses
// messages of 2 GB. The scan walks the wire format (tags and lengths) of a
// model and copies all of it but large tensor data, which it replaces by ONNX's
// own external-data fields (location, offset, length) that point into the same
// file.
//
// Wire format: https://protobuf.dev/programming-guides/encoding; field numbers:
// onnx.proto3 of ONNX 1.23.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_WIRESCAN_H
#define CLEAVE_FRONTEND_WIRESCAN_H

#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace cleave {

/// Location that stands for the model file itself; no file can have this name.
inline constexpr const char *ModelFileLocation = "#model/";

/// Tensor data of at least this many bytes stays in the file.
inline constexpr size_t LargeTensorBytes = 128;

/// Reduces `model`, the bytes of a ModelProto, to `reduced`. Fails with `error`
/// in words when the bytes are no model or stop early.
[[nodiscard]] mlir::LogicalResult
scanModel(llvm::StringRef model, std::string &reduced, std::string &error);

} // namespace cleave

#endif
