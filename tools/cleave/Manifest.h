//===- Manifest.h - read JSON files for the user --------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_MANIFEST_H
#define CLEAVE_TOOLS_CLEAVE_MANIFEST_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/LogicalResult.h"

#include <optional>

namespace cleave {

/// Reads a JSON object; says what is wrong and returns none otherwise.
std::optional<llvm::json::Object> readJson(llvm::StringRef file);

/// The manifest of an output folder.
std::optional<llvm::json::Object> readManifest(llvm::StringRef out);

/// Checks that every file that the manifest names is there in full; says which
/// is not. The sizes alone are quick; the contents are all read.
enum class Check { Sizes, Contents };
llvm::LogicalResult verifyFiles(llvm::StringRef out,
                                const llvm::json::Object &manifest,
                                Check check = Check::Sizes);

} // namespace cleave

#endif
