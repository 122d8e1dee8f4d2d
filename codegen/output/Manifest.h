//===- Manifest.h - manifest.json of OUT ----------------------------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_MANIFEST_H
#define CLEAVE_CODEGEN_OUTPUT_MANIFEST_H

#include "codegen/RankModule.h"
#include "codegen/host/DeviceFigures.h"
#include "codegen/output/Requirements.h"

namespace cleave {

/// What is known of a program after it was compiled.
struct ProgramFigures {
  std::string file;     ///< in OUT
  std::string identity; ///< equal to CleaveProgram::identity
  int64_t arenaBytes;
  DeviceFigures device; ///< empty for CPUs
};

/// One set of sizes: its programs, and what is known of them.
struct BucketInfo {
  const RankModule &ranks;
  llvm::SmallVector<ProgramFigures> programs;
};

/// What the manifest says of all buckets.
struct ManifestInfo {
  std::string build, plan, model;
  std::vector<BucketInfo> buckets;
  llvm::SmallVector<std::string> weights; ///< per rank
  Requirements requirements;
};

/// Text of manifest.json, as runtime/Format.h describes it.
mlir::FailureOr<std::string>
printManifest(const ManifestInfo &info,
              const std::map<std::string, OutFile> &files);

} // namespace cleave

#endif
