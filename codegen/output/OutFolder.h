//===- OutFolder.h - the folder OUT while it is written -------------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_OUTFOLDER_H
#define CLEAVE_CODEGEN_OUTPUT_OUTFOLDER_H

#include "mlir/IR/Diagnostics.h"

#include <map>
#include <memory>
#include <string>

namespace cleave {

/// Hex digest (SHA-256) of bytes.
std::string getDigest(llvm::StringRef bytes);

/// A file of OUT, for the manifest.
struct OutFile {
  uint64_t bytes;
  std::string digest; ///< SHA-256 in hex
};

/// Files are written to a folder beside OUT, which takes the name of OUT in the
/// end and is removed otherwise. Errors go to `context` without a location.
class OutFolder {
public:
  /// Fails when something is at `path` that is no OUT of Cleave.
  static mlir::FailureOr<std::unique_ptr<OutFolder>>
  create(mlir::MLIRContext *context, llvm::StringRef path);
  /// Fails when nothing can be written at `path`.
  static mlir::LogicalResult verifyPlace(mlir::MLIRContext *context,
                                         llvm::StringRef path);
  /// Fails when `create` would refuse.
  static mlir::LogicalResult verify(mlir::MLIRContext *context,
                                    llvm::StringRef path);
  ~OutFolder();
  OutFolder(const OutFolder &) = delete;
  OutFolder &operator=(const OutFolder &) = delete;

  /// Where the file `name` is written now.
  std::string getPath(llvm::StringRef name) const;
  [[nodiscard]] mlir::LogicalResult addFolder(llvm::StringRef name);
  [[nodiscard]] mlir::LogicalResult write(llvm::StringRef name,
                                          llvm::StringRef bytes);
  /// Gives a file another name, too: as a hard link where the file system
  /// can, else as a copy.
  [[nodiscard]] mlir::LogicalResult
  copy(llvm::StringRef from, llvm::StringRef name, llvm::StringRef digest);
  /// Notes a file that somebody else wrote at getPath(name).
  [[nodiscard]] mlir::LogicalResult note(llvm::StringRef name,
                                         llvm::StringRef digest);
  /// The files so far, by name.
  const std::map<std::string, OutFile> &getFiles() const { return files; }
  [[nodiscard]] mlir::LogicalResult commit();

  /// An error of the disk, or of a file that is needed.
  mlir::InFlightDiagnostic emitError() const;
  /// Whether there was one.
  bool hasFailed() const { return isBroken; }

private:
  OutFolder(mlir::MLIRContext *context, llvm::StringRef path);

  mlir::MLIRContext *context;
  std::string path, temporary;
  std::map<std::string, OutFile> files;
  mutable bool isBroken = false; ///< there was an error
};

} // namespace cleave

#endif
