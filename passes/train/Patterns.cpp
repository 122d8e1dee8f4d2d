//===- Patterns.cpp - parameters by the patterns of a flag ----------------===//

#include "passes/train/Patterns.h"

#include "ir/Cleave.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace cleave;
using namespace mlir;

static SmallVector<StringRef> splitPatterns(StringRef patterns) {
  SmallVector<StringRef> parts;
  patterns.split(parts, ';', -1, /*KeepEmpty=*/false);
  return parts;
}

static bool matches(StringRef pattern, StringRef name) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (glob)
    return glob->match(name);
  llvm::consumeError(glob.takeError());
  return false;
}

bool cleave::matchesAny(StringRef patterns, StringRef name) {
  return llvm::any_of(splitPatterns(patterns), [&](StringRef pattern) {
    return matches(pattern, name);
  });
}

std::optional<double> cleave::findValue(StringRef patterns, StringRef name) {
  std::optional<double> found;
  for (StringRef part : splitPatterns(patterns)) {
    auto [pattern, text] = part.rsplit('=');
    double value = 0;
    if (matches(pattern, name) && llvm::to_float(text, value))
      found = value;
  }
  return found;
}

LogicalResult cleave::verifyPatterns(ModuleOp module, StringRef patterns) {
  for (StringRef part : splitPatterns(patterns)) {
    auto [pattern, text] = part.rsplit('=');
    double value = 0;
    if (part.contains('=') && !llvm::to_float(text, value))
      return module.emitError()
             << "expected PATTERN=NUMBER, found '" << part << "'";
    bool known = llvm::any_of(module.getOps<ParamOp>(), [&](ParamOp param) {
      return matches(pattern, param.getSymName());
    });
    if (!known)
      return module.emitError()
             << "no parameter is named like '" << pattern << "'";
  }
  return success();
}
