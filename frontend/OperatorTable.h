//===- OperatorTable.h - which operator is imported by what ---------------===//
//
// Handlers are registered by domain, name and the opset version from which on
// they hold; the newest that is not newer than the model's opset wins. One
// register function a family.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_FRONTEND_OPERATORTABLE_H
#define CLEAVE_FRONTEND_OPERATORTABLE_H

#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <functional>
#include <map>

namespace cleave {

class NodeContext;

/// Builds the results of one node. Failure after an error was reported.
using OpHandler = std::function<mlir::LogicalResult(NodeContext &)>;

class OperatorTable {
public:
  /// Every operator that this build imports.
  OperatorTable();

  /// `domain` "" is the standard one.
  void onOp(llvm::StringRef domain, llvm::StringRef name, int64_t since,
            OpHandler handler);

  /// The handler for an opset version, or null.
  const OpHandler *find(llvm::StringRef domain, llvm::StringRef name,
                        int64_t version) const;

private:
  static std::string getKey(llvm::StringRef domain, llvm::StringRef name) {
    return (domain + "::" + name).str();
  }

  llvm::StringMap<std::map<int64_t, OpHandler>> handlers;
};

void registerElementwise(OperatorTable &table);
void registerMovement(OperatorTable &table);
void registerIndexing(OperatorTable &table);
void registerGather(OperatorTable &table);
void registerScatter(OperatorTable &table);
void registerPooling(OperatorTable &table);
void registerShape(OperatorTable &table);
void registerReduction(OperatorTable &table);
void registerContraction(OperatorTable &table);
void registerEinsum(OperatorTable &table);
void registerConvolution(OperatorTable &table);
void registerResize(OperatorTable &table);
void registerNormalization(OperatorTable &table);
void registerLoss(OperatorTable &table);
void registerQuantization(OperatorTable &table);
void registerSampling(OperatorTable &table);
void registerControl(OperatorTable &table);
void registerScan(OperatorTable &table);
void registerRecurrent(OperatorTable &table);
void registerUnpooling(OperatorTable &table);
void registerSpectrum(OperatorTable &table);
void registerOptimizers(OperatorTable &table);

} // namespace cleave

#endif
