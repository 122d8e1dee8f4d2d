//===- Counted.h - numbers of things as messages tell them ----------------===//
#ifndef CLEAVE_RUNTIME_SUPPORT_COUNTED_H
#define CLEAVE_RUNTIME_SUPPORT_COUNTED_H

#include "runtime/support/Error.h"

#include <cstdint>

namespace cleave::rt {

/// "1 rank", "2 ranks".
inline std::string counted(int64_t count, const char *what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

} // namespace cleave::rt

#endif
