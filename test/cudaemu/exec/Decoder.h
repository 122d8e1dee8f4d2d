//===- Decoder.h - make a Program of a PTX function -----------------------===//
//
// For each statement the rule of its opcode looks at modifiers and operands and
// emits instructions. The rules are in the files of their families.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "exec/Program.h"

#include <functional>
#include <map>
#include <span>

namespace cudaemu {

/// Where the symbols of a module are.
struct Symbols {
  struct Place {
    ptx::Space space;
    uint64_t address; ///< Global: of the device. Shared: of the shared window.
    bool isDynamicShared;
  };
  std::map<std::string, Place> places;
  std::map<std::string, const Program *> programs; ///< All functions.
};

class Decoder {
public:
  Decoder(const ptx::Function &fn, const Symbols &symbols, Program &out);
  /// Throws ptx::Error for what is not supported.
  void run();

  const ptx::Statement &statement() const { return *st; }
  const ptx::Operand &operand(size_t i) const;
  size_t operands() const { return st->operands.size(); }
  /// The i-th type of the opcode; fails without one.
  ptx::Type type(size_t i = 0) const;
  [[noreturn]] void fail(const std::string &what) const;
  [[noreturn]] void unsupported() const;

  ptx::Type typeOf(const ptx::Operand &op) const;
  /// The slot to read `op` from, an immediate as a value of `type`.
  uint32_t source(const ptx::Operand &op, ptx::Type type);
  uint32_t source(size_t i, ptx::Type type) { return source(operand(i), type); }
  uint32_t result(const ptx::Operand &op) const;
  uint32_t result(size_t i) const { return result(operand(i)); }
  uint32_t constant(uint64_t bits, unsigned bytes);
  uint32_t symbol(const std::string &name, int64_t offset, unsigned bytes);
  /// Fills the fields of `inst` for `[base+offset]`.
  void address(Inst &inst, const ptx::Operand &op);

  /// Appends with guard and line. Fails when there is no handler, which means
  /// that the types do not go with the opcode.
  Inst &emit(Handler run, uint32_t d = noResult, uint32_t a = noSource,
             uint32_t b = noSource, uint32_t c = noSource);
  /// Wraps the last instruction as .rz, .rm, .rp, .ftz want it.
  void applyRounding();

  size_t labelTarget(const std::string &label) const;
  const Program *function(const std::string &name) const;
  const ptx::Function &syntax() const { return fn; }
  /// Of a `.param` variable of this function, its place in the param area.
  const Program::Param *param(const std::string &name) const;

private:
  void layOutParams();
  uint32_t setupSlot(Setup setup);

  const ptx::Function &fn;
  const Symbols &symbols;
  Program &out;
  const ptx::Statement *st = nullptr;
  std::map<std::string, Program::Param> paramPlaces;
  std::map<std::string, uint64_t> localPlaces;
};

struct Rule {
  std::string_view opcode;
  void (*decode)(Decoder &);
};
/// add, sub, mul, mad, div, min, max, neg, abs of a float type.
void floatArithmetic(Decoder &d);
std::span<const Rule> integerRules();
std::span<const Rule> logicRules();
std::span<const Rule> floatRules();
std::span<const Rule> compareRules();
std::span<const Rule> convertRules();
std::span<const Rule> moveRules();
std::span<const Rule> memoryRules();
std::span<const Rule> atomicRules();
std::span<const Rule> controlRules();
std::span<const Rule> warpRules();
std::span<const Rule> barrierRules();
std::span<const Rule> matrixRules();
std::span<const Rule> asyncCopyRules();

/// Sets Inst::join of each branch: the immediate post-dominator.
void findJoins(Program &program);
/// Lets registers that are never live together share a slot.
void shareSlots(Program &program, uint32_t registers);

/// Base addresses in the generic space of what is not global.
inline constexpr uint64_t sharedWindow = 0x0100000000000000,
                          localWindow = 0x0200000000000000,
                          paramWindow = 0x0300000000000000,
                          windowMask = 0xff00000000000000;

} // namespace cudaemu
