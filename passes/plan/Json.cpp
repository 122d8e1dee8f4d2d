//===- Json.cpp - JSON of unknown origin ----------------------------------===//

#include "passes/plan/Json.h"

#include <algorithm>

using namespace cleave;

/// Brackets that are open at once, outside of strings.
static int64_t getDepth(llvm::StringRef text) {
  int64_t depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!isString && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

llvm::Expected<llvm::json::Value> cleave::parseJson(llvm::StringRef text) {
  constexpr int64_t kDeepest = 256;
  if (getDepth(text) > kDeepest)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "nested more than " + llvm::Twine(kDeepest) +
                                       " deep");
  return llvm::json::parse(text);
}
