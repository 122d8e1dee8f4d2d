//===- cleave-import.cpp - print what the importer makes of a model -------===//
//
// usage: cleave-import MODEL [--bind NAME=SIZE]... [--shapes INPUT:8x128]...
//                      [--value INPUT=1,2]... [--locations]
//
// For tests of the frontend alone: prints the logical program, or one error
// line per diagnostic and exits 3, as `cleave` does.
//
//===----------------------------------------------------------------------===//

#include "frontend/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace cleave;
using namespace mlir;

namespace cl = llvm::cl;

/// "model.onnx: node 'name': " from a NameLoc over the file's location.
static void printPlace(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    printPlace(name.getChildLoc());
    llvm::errs() << "'" << name.getName().getValue() << "': ";
  } else if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    llvm::errs() << llvm::sys::path::filename(file.getFilename().getValue())
                 << ": ";
  }
}

int main(int argc, char **argv) {
  cl::opt<std::string> path(cl::Positional, cl::Required, cl::desc("MODEL"));
  cl::list<std::string> binds("bind", cl::desc("NAME=SIZE"));
  cl::list<std::string> shapes("shapes", cl::desc("INPUT:8x128"));
  cl::list<std::string> values("value", cl::desc("INPUT=1,2"));
  cl::opt<bool> locations("locations", cl::desc("print locations"));
  cl::opt<bool> train("train", cl::desc("small initializers are params"));
  cl::ParseCommandLineOptions(argc, argv, "import a model and print it\n");

  ImportOptions options;
  options.train = train;
  std::string error;
  bool valid = true;
  for (const std::string &text : binds)
    valid = valid && succeeded(parseBinding(text, options, error));
  for (const std::string &text : shapes)
    valid = valid && succeeded(parseShape(text, options, error));
  for (const std::string &text : values)
    valid = valid && succeeded(parseValue(text, options, error));
  if (!valid) {
    llvm::errs() << "cleave: error: " << error << "\n";
    return 2;
  }

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    llvm::errs() << "cleave: error: ";
    printPlace(diagnostic.getLocation());
    llvm::errs() << diagnostic.str() << "\n";
  });
  FailureOr<OwningOpRef<ModuleOp>> module = importModel(context, path, options);
  if (failed(module))
    return 3;
  (*module)->print(
      llvm::outs(),
      OpPrintingFlags().useLocalScope().enableDebugInfo(locations));
  llvm::outs() << "\n";
  return 0;
}
