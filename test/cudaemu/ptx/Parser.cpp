//===- Parser.cpp - read a PTX module -------------------------------------===//
//
// Recursive descent over the tokens. Registers are numbered over the whole
// function; a name means the one of the innermost scope `{ }`. Debug sections
// and hints (.loc, .file, .section, .pragma) are passed over.
//
//===----------------------------------------------------------------------===//

#include "ptx/Parser.h"
#include "ptx/Special.h"

#include <bit>
#include <cstring>

using namespace cudaemu::ptx;

void Parser::expect(std::string_view text) {
  if (!accept(text))
    fail("found '" + std::string(peek().text) + "', expected '" +
         std::string(text) + "'");
}

bool Parser::accept(std::string_view text) {
  if (peek().text != text || peek().kind == Token::String)
    return false;
  ++pos;
  return true;
}

std::string Parser::word() {
  if (peek().kind != Token::Word)
    fail("found '" + std::string(peek().text) + "', expected a name");
  return std::string(next().text);
}

uint64_t Parser::integer() {
  bool negative = accept("-");
  if (peek().kind != Token::Integer)
    fail("found '" + std::string(peek().text) + "', expected a number");
  uint64_t value = next().bits;
  return negative ? -value : value;
}

void Parser::skipPast(std::string_view text) {
  while (!accept(text))
    if (next().kind == Token::End)
      fail("expected '" + std::string(text) + "'");
}

bool Parser::skipHint() {
  if (peek().text == ".loc" || peek().text == ".file") {
    for (int line = peek().line; peek().line == line;)
      if (next().kind == Token::End)
        fail("end of file");
    return true;
  }
  if (accept(".pragma") || accept(".alias")) {
    skipPast(";");
    return true;
  }
  if (accept(".section")) {
    skipPast("{");
    skipPast("}");
    return true;
  }
  return false;
}

Module Parser::run() {
  while (peek().kind != Token::End) {
    if (accept(".version") || accept(".target"))
      do
        next();
      while (accept(","));
    else if (accept(".address_size"))
      integer();
    else if (!skipHint())
      declaration();
  }
  return std::move(module);
}

void Parser::declaration() {
  while (accept(".visible") || accept(".extern") || accept(".weak") ||
         accept(".common") || accept("const")) {
  }
  if (peek().text == ".entry" || peek().text == ".func")
    return function();
  for (auto [name, space] : {std::pair{".global", Space::Global},
                             {".const", Space::Const},
                             {".shared", Space::Shared}})
    if (accept(name))
      return variables(space, module.variables);
  fail("found '" + std::string(peek().text) + "', expected a declaration");
}

void Parser::function() {
  Function made;
  made.line = peek().line;
  made.isEntry = next().text == ".entry";
  if (accept("("))
    made.results = formals();
  made.name = word();
  if (accept("("))
    made.params = formals();
  while (peek().text != "{" && peek().text != ";") {
    std::string directive = word();
    if (directive == ".maxntid" || directive == ".reqntid") {
      unsigned sizes[3] = {1, 1, 1};
      for (int i = 0; i == 0 || (i < 3 && accept(",")); ++i)
        sizes[i] = static_cast<unsigned>(integer());
      made.maxThreads = sizes[0] * sizes[1] * sizes[2];
      if (directive == ".reqntid")
        std::memcpy(made.requiredThreads, sizes, sizeof sizes);
    } else {
      while (peek().kind == Token::Integer || peek().kind == Token::String ||
             peek().text == ",")
        next();
    }
  }
  if (accept("{")) {
    made.hasBody = true;
    fn = &made;
    scopes.assign(1, {});
    body();
    fn = nullptr;
  } else {
    expect(";");
  }
  module.functions.push_back(std::move(made));
}

std::vector<Variable> Parser::formals() {
  std::vector<Variable> made;
  while (!accept(")")) {
    bool isRegister = accept(".reg");
    if (!isRegister)
      expect(".param");
    made.push_back(variable(Space::Param));
    if (isRegister)
      fail("functions with .reg parameters are not supported");
    accept(",");
  }
  return made;
}

void Parser::variables(Space space, std::vector<Variable> &into) {
  Variable first = variable(space);
  Variable shape = first;
  into.push_back(std::move(first));
  while (accept(",")) {
    Variable more;
    more.space = space;
    more.type = shape.type;
    more.align = shape.align;
    shapeAndInit(more, word(), bytesOf(more.type));
    into.push_back(std::move(more));
  }
  expect(";");
}

Variable Parser::variable(Space space) {
  Variable made;
  made.space = space;
  size_t lanes = 1, align = 0;
  while (peek().text.starts_with('.')) {
    std::string part = word();
    if (part == ".align")
      align = integer();
    else if (part == ".v2" || part == ".v4")
      lanes = part == ".v2" ? 2 : 4;
    else if (Type type = typeNamed(part.substr(1)); type != Type::None)
      made.type = type;
    else if (part != ".ptr" && part != ".global" && part != ".const" &&
             part != ".shared" && part != ".local" && part != ".attribute" &&
             part != ".unified" && part != ".managed")
      fail("found '" + part + "' in a declaration");
  }
  size_t element = bytesOf(made.type) * lanes;
  made.align = align ? align : element;
  shapeAndInit(made, word(), element);
  return made;
}

void Parser::shapeAndInit(Variable &made, std::string name, size_t element) {
  made.name = std::move(name);
  made.bytes = element;
  while (accept("[")) {
    if (accept("]")) {
      made.isUnsized = true;
      made.bytes = 0;
    } else {
      made.bytes *= integer();
      expect("]");
    }
  }
  if (accept("=")) {
    initializer(made);
    if (made.isUnsized)
      made.bytes = made.init.size();
    made.init.resize(made.bytes);
  }
}

void Parser::initializer(Variable &made) {
  if (accept("{")) {
    while (!accept("}")) {
      initializer(made);
      accept(",");
    }
    return;
  }
  size_t bytes = bytesOf(made.type);
  uint64_t bits = 0;
  if (peek().kind == Token::Word) {
    std::string symbol = word();
    if (symbol == "generic") {
      expect("(");
      symbol = word();
      expect(")");
    }
    int64_t addend = 0;
    if (accept("+"))
      addend = static_cast<int64_t>(integer());
    made.pointers.push_back({made.init.size(), symbol, addend});
  } else {
    bits = immediate(made.type);
  }
  const auto *from = reinterpret_cast<const uint8_t *>(&bits);
  made.init.insert(made.init.end(), from, from + bytes);
}

/// The bits of a literal as a value of `type`.
uint64_t Parser::immediate(Type type) {
  if (peek().kind == Token::Single || peek().kind == Token::Double) {
    const Token &t = next();
    if (t.kind == Token::Double && type == Type::F32)
      return std::bit_cast<uint32_t>(
          static_cast<float>(std::bit_cast<double>(t.bits)));
    return t.bits;
  }
  return integer();
}

Module cudaemu::ptx::parse(std::string_view text) {
  return Parser(tokenize(text)).run();
}
