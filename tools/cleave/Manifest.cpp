//===- Manifest.cpp - read JSON files for the user ------------------------===//

#include "tools/cleave/Manifest.h"

#include "runtime/Format.h"
#include "tools/cleave/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;

std::optional<llvm::json::Object> cleave::readJson(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    printError(
        ("cannot read '" + file + "': " + buffer.getError().message()).str());
    return std::nullopt;
  }
  llvm::Expected<llvm::json::Value> value =
      llvm::json::parse((*buffer)->getBuffer());
  if (!value) {
    printError(("'" + file + "': " + llvm::toString(value.takeError())).str());
    return std::nullopt;
  }
  if (!value->getAsObject()) {
    printError(("'" + file + "' holds no JSON object").str());
    return std::nullopt;
  }
  return std::move(*value->getAsObject());
}

std::optional<llvm::json::Object> cleave::readManifest(llvm::StringRef out) {
  std::string file = (out + "/" + format::ManifestFile).str();
  if (!llvm::sys::fs::exists(file)) {
    printError(("'" + out + "' is no folder made by cleave: it has no " +
                format::ManifestFile)
                   .str());
    return std::nullopt;
  }
  return readJson(file);
}
