//===- Syntax.h - a PTX module as it is written ---------------------------===//
//
// What Parser.cpp makes of the text: names are resolved to registers, the rest
// is kept as it stands. Decode.cpp turns a function into a Program.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ptx/Types.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace cudaemu::ptx {

/// What is wrong with a module, with the line of its text.
struct Error : std::runtime_error {
  Error(int line, const std::string &what)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + what) {}
};

struct Operand {
  enum Kind { Register, Immediate, List, Address, Symbol, Sink } kind = Sink;
  enum Form { Integer, Single, Double }; // how an immediate is written
  int reg = -1;       ///< Register; base of an Address or -1.
  int other = -1;     ///< The q of `p|q`.
  bool isNot = false; ///< `!p`
  Form form = Integer;
  uint64_t bits = 0;          ///< Immediate.
  std::string name;           ///< Symbol; base of an Address where `reg` is -1.
  int64_t offset = 0;         ///< Address, Symbol.
  std::vector<Operand> parts; ///< List: `{a, b}` and `(a, b)`.
};

struct Statement {
  int line = 0;
  int guard = -1; ///< Register of `@p`.
  bool guardNot = false;
  std::vector<std::string> op; ///< `ld.global.f32` as its parts.
  std::vector<Operand> operands;

  bool has(std::string_view modifier) const;
  /// The types among the modifiers, in order.
  std::vector<Type> types() const;
  std::string name() const; ///< The opcode as written.
};

struct Variable {
  struct Pointer {
    size_t offset;
    std::string symbol;
    int64_t addend;
  };
  std::string name;
  Space space = Space::Generic;
  Type type = Type::None;
  size_t align = 1;
  size_t bytes = 0;
  bool isUnsized = false; ///< `name[]`: the dynamic shared memory.
  std::vector<uint8_t> init;
  std::vector<Pointer> pointers; ///< Addresses of symbols within `init`.
};

struct Function {
  std::string name;
  int line = 0;
  bool isEntry = false;
  bool hasBody = false;
  std::vector<Variable> params, results;
  std::vector<Type> registers;
  std::vector<std::string> registerNames;
  std::vector<Variable>
      variables; ///< Local, shared and param ones of the body.
  std::vector<Statement> body;
  std::map<std::string, size_t> labels; ///< To an index into `body`.
  std::map<std::string, std::vector<std::string>> targets; ///< .branchtargets
  unsigned maxThreads = 1024;       ///< .maxntid, multiplied.
  unsigned requiredThreads[3] = {}; ///< .reqntid, or 0.
};

struct Module {
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Throws Error.
Module parse(std::string_view text);

} // namespace cudaemu::ptx
