//===- Json.h - JSON of unknown origin ------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_JSON_H
#define CLEAVE_PASSES_PLAN_JSON_H

#include "llvm/Support/JSON.h"

namespace cleave {

/// Parses JSON. The parser calls itself for what is nested, so text that is
/// nested more deeply than any of ours is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace cleave

#endif
