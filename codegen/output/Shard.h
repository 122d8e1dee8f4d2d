//===- Shard.h - stream a part of a parameter from its source -------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_SHARD_H
#define CLEAVE_CODEGEN_OUTPUT_SHARD_H

#include "codegen/RankModule.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

namespace cleave {

/// Source files, mapped when they are first used.
class ShardSources {
public:
  /// The whole tensor's bytes; empty for a param without a value, which is
  /// zero.
  mlir::FailureOr<llvm::StringRef> getBytes(ParamOp param);

private:
  llvm::StringMap<std::unique_ptr<llvm::MemoryBuffer>> files;
  std::string dense; ///< bytes of the last param whose value is in the IR
};

/// A file that is hashed while it is written.
class DigestStream : public llvm::raw_ostream {
public:
  explicit DigestStream(llvm::StringRef path);
  ~DigestStream() override;
  /// Closes the file and gives its hex digest.
  std::error_code finish(std::string &digest);

private:
  void write_impl(const char *data, size_t size) override;
  uint64_t current_pos() const override { return position; }

  std::error_code error;
  llvm::raw_fd_ostream file;
  llvm::SHA256 hash;
  uint64_t position = 0;
};

/// Writes the elements of `ranges` in the local shape, with zeros behind them.
[[nodiscard]] mlir::LogicalResult writeShard(ParamOp param,
                                             mlir::RankedTensorType localType,
                                             llvm::ArrayRef<DimRange> ranges,
                                             ShardSources &sources,
                                             llvm::raw_ostream &stream);

} // namespace cleave

#endif
