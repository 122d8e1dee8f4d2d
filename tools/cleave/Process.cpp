//===- Process.cpp - run a command to its end -----------------------------===//

#include "tools/cleave/Process.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace cleave;

std::string cleave::getSelf() {
  return llvm::sys::fs::getMainExecutable(nullptr,
                                          reinterpret_cast<void *>(&getSelf));
}

static std::string readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Finished cleave::runCommand(const std::vector<std::string> &command) {
  auto program = llvm::sys::findProgramByName(command[0]);
  if (!program)
    return {-1, command[0] + ": " + program.getError().message()};
  llvm::SmallString<128> output, errors;
  std::error_code error =
      llvm::sys::fs::createTemporaryFile("cleave", "out", output);
  if (!error)
    error = llvm::sys::fs::createTemporaryFile("cleave", "err", errors);
  if (error)
    return {-1, "cannot write a temporary file: " + error.message()};
  llvm::FileRemover removeOutput(output), removeErrors(errors);
  llvm::SmallVector<llvm::StringRef> arguments(command.begin(), command.end());
  std::string message;
  int code = llvm::sys::ExecuteAndWait(
      *program, arguments, std::nullopt,
      {llvm::StringRef(""), output.str(), errors.str()}, 0, 0, &message);
  return {code, readFile(output) + readFile(errors) + message};
}
