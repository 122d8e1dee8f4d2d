//===- Lexer.cpp - cut PTX into tokens ------------------------------------===//

#include "ptx/Lexer.h"
#include "ptx/Syntax.h"

#include <bit>
#include <cctype>
#include <cstdlib>

using namespace cudaemu::ptx;

namespace {
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  std::vector<Token> run();

private:
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }
  static bool startsWord(char c) {
    return isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%' ||
           c == '$' || c == '.';
  }
  static bool continuesWord(char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
  }
  bool skipComment();
  size_t endOfWord() const;
  Token number();
  Token token(Token::Kind kind, size_t end, uint64_t bits = 0) {
    Token t{kind, text.substr(pos, end - pos), bits, line};
    pos = end;
    return t;
  }

  std::string_view text;
  size_t pos = 0;
  int line = 1;
};
} // namespace

bool Lexer::skipComment() {
  if (at(pos) != '/' || (at(pos + 1) != '/' && at(pos + 1) != '*'))
    return false;
  bool isLine = at(pos + 1) == '/';
  size_t end = text.find(isLine ? "\n" : "*/", pos + 2);
  if (end == std::string_view::npos)
    end = text.size();
  else if (!isLine)
    end += 2;
  for (; pos < end; ++pos)
    line += text[pos] == '\n';
  return true;
}

size_t Lexer::endOfWord() const {
  size_t end = pos + 1;
  for (;;) {
    if (continuesWord(at(end)))
      ++end;
    else if (at(end) == '.' && at(pos) != '.' && continuesWord(at(end + 1)))
      end += 2;
    else if (at(end) == ':' && at(end + 1) == ':' && continuesWord(at(end + 2)))
      end += 3;
    else
      return end;
  }
}

Token Lexer::number() {
  std::string rest(text.substr(pos, 80));
  char mark = at(pos) == '0' ? static_cast<char>(tolower(at(pos + 1))) : '\0';
  if (mark == 'f' || mark == 'd') {
    size_t digits = mark == 'f' ? 8 : 16;
    std::string hex = rest.substr(2, digits);
    return token(mark == 'f' ? Token::Single : Token::Double, pos + 2 + digits,
                 strtoull(hex.c_str(), nullptr, 16));
  }
  char *end = nullptr;
  uint64_t value = mark == 'b' ? strtoull(rest.c_str() + 2, &end, 2)
                               : strtoull(rest.c_str(), &end, 0);
  if (*end == '.' || *end == 'e' || *end == 'E') {
    double real = strtod(rest.c_str(), &end);
    return token(Token::Double, pos + (end - rest.c_str()),
                 std::bit_cast<uint64_t>(real));
  }
  if (*end == 'U')
    ++end;
  return token(Token::Integer, pos + (end - rest.c_str()), value);
}

std::vector<Token> Lexer::run() {
  std::vector<Token> tokens;
  while (pos < text.size() && text[pos] != '\0') {
    char c = text[pos];
    if (isspace(static_cast<unsigned char>(c))) {
      line += c == '\n';
      ++pos;
    } else if (skipComment()) {
    } else if (startsWord(c)) {
      tokens.push_back(token(Token::Word, endOfWord()));
    } else if (isdigit(static_cast<unsigned char>(c))) {
      tokens.push_back(number());
    } else if (c == '"') {
      size_t end = text.find('"', pos + 1);
      if (end == std::string_view::npos)
        throw Error(line, "string without an end");
      tokens.push_back(token(Token::String, end + 1));
    } else {
      tokens.push_back(token(Token::Mark, pos + 1));
    }
  }
  tokens.push_back({Token::End, "end of file", 0, line});
  return tokens;
}

std::vector<Token> cudaemu::ptx::tokenize(std::string_view text) {
  return Lexer(text).run();
}
