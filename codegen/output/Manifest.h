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

/// What the manifest says besides the RankModule.
struct ManifestInfo {
  std::string build, plan, model;
  llvm::SmallVector<ProgramFigures> programs;
  llvm::SmallVector<std::string> weights; ///< per rank
  Requirements requirements;
};

/// Text of manifest.json, as runtime/Format.h describes it.
mlir::FailureOr<std::string>
printManifest(const RankModule &ranks, const ManifestInfo &info,
              const std::map<std::string, OutFile> &files);

} // namespace cleave

#endif
