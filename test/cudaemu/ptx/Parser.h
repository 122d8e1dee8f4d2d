//===- Parser.h - read a PTX module ---------------------------------------===//
#pragma once

#include "ptx/Lexer.h"
#include "ptx/Syntax.h"

namespace cudaemu::ptx {

class Parser {
public:
  explicit Parser(std::vector<Token> tokens) : tokens(std::move(tokens)) {}
  Module run();

private:
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(pos + ahead, tokens.size() - 1)];
  }
  const Token &next() { return tokens[pos++]; }
  [[noreturn]] void fail(const std::string &what) const {
    throw Error(peek().line, what);
  }
  void expect(std::string_view text);
  bool accept(std::string_view text);
  std::string word();
  uint64_t integer();
  uint64_t immediate(Type type);
  void skipPast(std::string_view text);
  bool skipHint();

  // Parser.cpp: declarations.
  void declaration();
  void function();
  std::vector<Variable> formals();
  void variables(Space space, std::vector<Variable> &into);
  Variable variable(Space space);
  void shapeAndInit(Variable &made, std::string name, size_t element);
  void initializer(Variable &made);

  // ParseBody.cpp: what is within a function.
  void body();
  void registers();
  void declareRegister(const std::string &name, Type type);
  int findRegister(const std::string &name);
  bool label();
  void statement();
  Operand operand();
  Operand list(std::string_view end);
  Operand address();

  std::vector<Token> tokens;
  size_t pos = 0;
  Module module;
  Function *fn = nullptr;
  std::vector<std::map<std::string, int>> scopes;
};

} // namespace cudaemu::ptx
