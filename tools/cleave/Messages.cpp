//===- Messages.cpp - what the driver tells the user ----------------------===//

#include "tools/cleave/Messages.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace cleave;
using namespace mlir;

/// Files of which the user can look up a line; others are named only.
static bool hasLines(StringRef file) { return !file.ends_with(".onnx"); }

/// Parts of a location that a user knows: file (with line), then node.
static void describe(Location loc, std::string &file, std::string &node) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    if (node.empty())
      node = name.getName().str();
    describe(name.getChildLoc(), file, node);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    describe(fused.getLocations().front(), file, node);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    describe(call.getCallee(), file, node);
  } else if (auto position = dyn_cast<FileLineColLoc>(loc)) {
    file = position.getFilename().str();
    if (hasLines(file) && position.getLine())
      file += ":" + std::to_string(position.getLine()) + ":" +
              std::to_string(position.getColumn());
  }
}

static std::string toPrefix(Location loc) {
  std::string file, node, prefix;
  describe(loc, file, node);
  if (!file.empty())
    prefix += file + ": ";
  if (!node.empty())
    prefix += "node '" + node + "': ";
  return prefix;
}

void cleave::printError(StringRef text) {
  llvm::errs() << "cleave: error: " << text << "\n";
}

ErrorPrinter::ErrorPrinter(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) { print(diagnostic); }) {}

void ErrorPrinter::print(Diagnostic &diagnostic) {
  bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
  StringRef kind = isError && !hasError ? "error"
                   : isError            ? "note"
                                        : "warning";
  hasError |= isError;
  llvm::errs() << "cleave: " << kind << ": "
               << toPrefix(diagnostic.getLocation()) << diagnostic.str()
               << "\n";
  for (Diagnostic &note : diagnostic.getNotes())
    llvm::errs() << "cleave: note: " << toPrefix(note.getLocation())
                 << note.str() << "\n";
}

Progress::Progress()
    : isTerminal(isatty(STDERR_FILENO)),
      start(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (isTerminal)
    llvm::errs() << "\r\033[K";
}

void Progress::step(StringRef text) {
  if (isTerminal)
    llvm::errs() << "\r\033[K" << text;
  else if (std::chrono::steady_clock::now() - start > std::chrono::seconds(3))
    llvm::errs() << "cleave: " << text << "\n";
}
