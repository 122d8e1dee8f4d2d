//===- Lexer.h - cut PTX into tokens --------------------------------------===//
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cudaemu::ptx {

struct Token {
  /// Single, Double: `0f3F800000`, and `0d...` or `1.5`; `bits` has the value.
  enum Kind { Word, Integer, Single, Double, String, Mark, End } kind;
  std::string_view text;
  uint64_t bits;
  int line;
};

/// Words keep their dots, so that `ld.global.f32` and `%tid.x` are one token;
/// `.reg.b16` is two, as directives are often written without a space.
/// Throws Error. The last token is an End.
std::vector<Token> tokenize(std::string_view text);

} // namespace cudaemu::ptx
