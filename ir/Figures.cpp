//===- Figures.cpp - figures as messages show them ------------------------===//

#include "ir/Figures.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace cleave;

std::string cleave::formatCount(int64_t count, llvm::StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

static std::string format(double bytes, int digits) {
  const char *unit = "B";
  for (const char *next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < 1024)
      break;
    bytes /= 1024;
    unit = next;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%.*f", unit[1] ? digits : 0, bytes) << " " << unit;
  return text;
}

std::string cleave::formatBytes(double bytes) { return format(bytes, 1); }

BytesApart cleave::formatApart(double first, double second) {
  constexpr int kMostDigits = 12; // a byte of a TiB
  for (int digits = 1; digits < kMostDigits; ++digits) {
    BytesApart apart{format(first, digits), format(second, digits)};
    if (apart.first != apart.second)
      return apart;
  }
  return {format(first, kMostDigits), format(second, kMostDigits)};
}
