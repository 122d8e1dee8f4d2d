//===- Origin.h - which node of the model makes an output -----------------===//
//
// The importer leaves it on the results of @main as the attribute
// `cleave.origin`, so that a run can say where in the model a value comes from:
//
//   {node = "fc1", op = "MatMul", position = 3 : i64, kept}
//
// `position` counts the nodes before it that compute something, in the order of
// the graph. `kept` marks an output that the model itself does not have.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_ORIGIN_H
#define CLEAVE_IR_ORIGIN_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>
#include <string>

namespace cleave {

inline constexpr llvm::StringLiteral OriginAttrName = "cleave.origin";

struct Origin {
  std::string node, op; ///< name and operator type
  int64_t position = 0;
  bool isKept = false;
};

mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context,
                                 const Origin &origin);
/// None for a null attribute: no node makes the output.
std::optional<Origin> readOrigin(mlir::DictionaryAttr attribute);

} // namespace cleave

#endif
