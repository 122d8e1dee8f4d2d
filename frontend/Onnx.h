//===- Onnx.h - the ONNX protobuf classes ---------------------------------===//
//
// The one place where ONNX's headers come in; they are not free of warnings.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_ONNX_H
#define CLEAVE_FRONTEND_ONNX_H

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#include "onnx/onnx_pb.h"
#pragma clang diagnostic pop

#include <string>

namespace cleave {

/// Whether a domain is the standard one, which has two spellings.
inline bool isStandardDomain(const std::string &domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// What messages call a node: its name, or its first output where it has none.
inline const std::string &getNodeName(const onnx::NodeProto &node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                       : node.name();
}

} // namespace cleave

#endif
