//===- Figures.h - figures as messages show them --------------------------===//

#ifndef CLEAVE_IR_FIGURES_H
#define CLEAVE_IR_FIGURES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace cleave {

/// "1 rank", "2 ranks".
std::string formatCount(int64_t count, llvm::StringRef what);

/// "640 B", "1.5 MiB".
std::string formatBytes(double bytes);

/// Two sizes that are not equal, with as many digits as it takes to tell them
/// apart: "100.02 KiB" and "100.00 KiB".
struct BytesApart {
  std::string first, second;
};
BytesApart formatApart(double first, double second);

} // namespace cleave

#endif
