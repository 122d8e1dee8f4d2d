//===- Messages.h - what the driver tells the user ------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_MESSAGES_H
#define CLEAVE_TOOLS_CLEAVE_MESSAGES_H

#include "mlir/IR/Diagnostics.h"

#include <chrono>
#include <string>

namespace cleave {

/// Prints `cleave: error: TEXT`.
void printError(llvm::StringRef text);

/// Prints the diagnostics of a context as one error line, with further errors
/// and notes as lines `cleave: note:`. A location is printed as file, line and
/// column where the file has lines, and the user's node.
class ErrorPrinter {
public:
  explicit ErrorPrinter(mlir::MLIRContext *context);

private:
  void print(mlir::Diagnostic &diagnostic);

  bool hasError = false;
  mlir::ScopedDiagnosticHandler handler;
};

/// Says what goes on: in place on a terminal, else as lines once the work has
/// taken a few seconds.
class Progress {
public:
  Progress();
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  void step(llvm::StringRef text);

private:
  bool isTerminal;
  std::chrono::steady_clock::time_point start;
};

} // namespace cleave

#endif
