//===- Manifest.cpp - read JSON files for the user ------------------------===//

#include "tools/cleave/Manifest.h"

#include "codegen/output/OutFolder.h"
#include "ir/Figures.h"
#include "passes/plan/Json.h"
#include "runtime/Format.h"
#include "tools/cleave/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;

std::optional<llvm::json::Object> cleave::readJson(llvm::StringRef file) {
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer) {
    printError(
        ("cannot read '" + file + "': " + buffer.getError().message()).str());
    return std::nullopt;
  }
  llvm::Expected<llvm::json::Value> value = parseJson((*buffer)->getBuffer());
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
  std::optional<llvm::json::Object> manifest = readJson(file);
  if (!manifest)
    return std::nullopt;
  int64_t version = manifest->getInteger("format").value_or(0);
  if (version != format::Version) {
    printError("'" + file + "': expected format " +
               std::to_string(format::Version) + ", found " +
               (version ? std::to_string(version) : "none") +
               ": another build of cleave made it; compile the model again");
    return std::nullopt;
  }
  return manifest;
}

/// What is wrong with the file at `path`; empty: nothing.
static std::string findDamage(llvm::StringRef path, uint64_t bytes,
                              llvm::StringRef digest, Check check) {
  uint64_t found = 0;
  if (std::error_code error = llvm::sys::fs::file_size(path, found))
    return "cannot be read: " + error.message();
  if (found != bytes)
    return llvm::formatv("has {0}, expected {1}", formatCount(found, "byte"),
                         bytes);
  if (check == Check::Sizes)
    return "";
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return "cannot be read: " + buffer.getError().message();
  std::string hash = getDigest((*buffer)->getBuffer());
  if (hash != digest)
    return llvm::formatv("has the SHA-256 {0}, expected {1}", hash, digest);
  return "";
}

llvm::LogicalResult cleave::verifyFiles(llvm::StringRef out,
                                        const llvm::json::Object &manifest,
                                        Check check) {
  const llvm::json::Array *files = manifest.getArray("files");
  for (const llvm::json::Value &entry : files ? *files : llvm::json::Array()) {
    const llvm::json::Object *file = entry.getAsObject();
    auto path = file ? file->getString("path") : std::nullopt;
    auto bytes = file ? file->getInteger("bytes") : std::nullopt;
    auto digest = file ? file->getString("sha256") : std::nullopt;
    if (!path || !bytes || !digest) {
      printError(("'" + out + "/" + format::ManifestFile +
                  "': a file has no path, bytes or sha256: another build of "
                  "cleave made it, or it is damaged; compile the model again")
                     .str());
      return llvm::failure();
    }
    std::string damage =
        findDamage((out + "/" + *path).str(), *bytes, *digest, check);
    if (!damage.empty()) {
      printError(("'" + out + "' is damaged: '" + *path + "' " + damage).str());
      return llvm::failure();
    }
  }
  return llvm::success();
}
