//===- ParseBody.cpp - read the statements of a function ------------------===//

#include "ptx/Parser.h"
#include "ptx/Special.h"

using namespace cudaemu::ptx;

void Parser::body() {
  while (!scopes.empty()) {
    if (accept("{"))
      scopes.emplace_back();
    else if (accept("}"))
      scopes.pop_back();
    else if (accept(".reg"))
      registers();
    else if (accept(".local"))
      variables(Space::Local, fn->variables);
    else if (accept(".shared"))
      variables(Space::Shared, fn->variables);
    else if (accept(".param"))
      variables(Space::Param, fn->variables);
    else if (!skipHint() && !label())
      statement();
  }
}

void Parser::registers() {
  Type type = typeNamed(word().substr(1));
  if (type == Type::None)
    fail("unknown type of a register");
  do {
    std::string name = word();
    if (!accept("<")) {
      declareRegister(name, type);
      continue;
    }
    for (uint64_t i = 0, count = integer(); i < count; ++i)
      declareRegister(name + std::to_string(i), type);
    expect(">");
  } while (accept(","));
  expect(";");
}

void Parser::declareRegister(const std::string &name, Type type) {
  scopes.back()[name] = static_cast<int>(fn->registers.size());
  fn->registers.push_back(type);
  fn->registerNames.push_back(name);
}

/// The register of that name, or -1. A special register is declared in the
/// outermost scope when it is first used.
int Parser::findRegister(const std::string &name) {
  for (size_t i = scopes.size(); i-- > 0;)
    if (auto found = scopes[i].find(name); found != scopes[i].end())
      return found->second;
  const Special *special = specialNamed(name);
  if (!special)
    return -1;
  scopes[0][name] = static_cast<int>(fn->registers.size());
  fn->registers.push_back(special->type);
  fn->registerNames.push_back(name);
  return scopes[0][name];
}

bool Parser::label() {
  if (peek().kind != Token::Word || peek(1).text != ":")
    return false;
  std::string name = word();
  expect(":");
  if (accept(".branchtargets")) {
    do
      fn->targets[name].push_back(word());
    while (accept(","));
    expect(";");
  } else if (accept(".callprototype")) {
    skipPast(";");
  } else {
    fn->labels[name] = fn->body.size();
  }
  return true;
}

void Parser::statement() {
  Statement made;
  made.line = peek().line;
  if (accept("@")) {
    made.guardNot = accept("!");
    made.guard = findRegister(word());
    if (made.guard < 0)
      fail("unknown predicate");
  }
  std::string opcode = word();
  for (size_t from = 0; from <= opcode.size();) {
    size_t to = std::min(opcode.find('.', from), opcode.size());
    made.op.push_back(opcode.substr(from, to - from));
    from = to + 1;
  }
  while (!accept(";")) {
    made.operands.push_back(operand());
    if (!accept(",") && peek().text != ";")
      fail("found '" + std::string(peek().text) + "' in '" + opcode + "'");
  }
  fn->body.push_back(std::move(made));
}

Operand Parser::operand() {
  if (accept("{"))
    return list("}");
  if (accept("("))
    return list(")");
  if (accept("["))
    return address();
  Operand made;
  if (peek().kind == Token::Word) {
    std::string name = word();
    made.reg = findRegister(name);
    if (name == "_") {
      if (accept("|"))
        made.other = findRegister(word());
      return made;
    }
    if (made.reg >= 0) {
      made.kind = Operand::Register;
      if (accept("|") && !accept("_"))
        made.other = findRegister(word());
      return made;
    }
    if (name.starts_with('%'))
      fail("unknown register '" + name + "'");
    made.kind = Operand::Symbol;
    made.name = std::move(name);
    if (accept("+"))
      made.offset = static_cast<int64_t>(integer());
    return made;
  }
  if (accept("!")) {
    made = operand();
    made.isNot = true;
    return made;
  }
  made.kind = Operand::Immediate;
  if (peek().kind == Token::Single || peek().kind == Token::Double)
    made.form =
        peek().kind == Token::Single ? Operand::Single : Operand::Double;
  made.bits = made.form == Operand::Integer ? integer() : next().bits;
  return made;
}

Operand Parser::list(std::string_view end) {
  Operand made;
  made.kind = Operand::List;
  while (!accept(end)) {
    made.parts.push_back(operand());
    accept(",");
  }
  return made;
}

Operand Parser::address() {
  Operand made;
  made.kind = Operand::Address;
  if (peek().kind == Token::Word) {
    made.name = word();
    made.reg = findRegister(made.name);
    if (made.reg < 0 && made.name.starts_with('%'))
      fail("unknown register '" + made.name + "'");
  }
  if (accept("+") || peek().text == "-" || peek().kind == Token::Integer)
    made.offset = static_cast<int64_t>(integer());
  expect("]");
  return made;
}
