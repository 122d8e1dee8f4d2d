//===- Decoder.cpp - make a Program of a PTX function ---------------------===//

#include "exec/Decoder.h"
#include "exec/Handlers.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

using namespace cudaemu;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

static size_t alignUp(size_t value, size_t align) {
  return (value + align - 1) / align * align;
}

static const std::unordered_map<std::string_view, void (*)(Decoder &)> &
allRules() {
  static const auto rules = [] {
    std::unordered_map<std::string_view, void (*)(Decoder &)> made;
    for (auto family :
         {integerRules(), logicRules(), floatRules(), compareRules(),
          convertRules(), moveRules(), memoryRules(), atomicRules(),
          controlRules(), warpRules(), barrierRules(), matrixRules(),
          asyncCopyRules()})
      for (const Rule &rule : family)
        made[rule.opcode] = rule.decode;
    return made;
  }();
  return rules;
}

Decoder::Decoder(const ptx::Function &fn, const Symbols &symbols, Program &out)
    : fn(fn), symbols(symbols), out(out) {
  out.slots = 2 + static_cast<uint32_t>(fn.registers.size());
  layOutParams();
}

/// Gives each `.param` and `.local` variable its offset.
void Decoder::layOutParams() {
  auto place = [&](const ptx::Variable &v) {
    out.paramBytes = alignUp(out.paramBytes, v.align);
    Program::Param made{out.paramBytes, v.bytes};
    out.paramBytes += v.bytes;
    paramPlaces[v.name] = made;
    return made;
  };
  for (const ptx::Variable &v : fn.params)
    out.params.push_back(place(v));
  for (const ptx::Variable &v : fn.results)
    out.results.push_back(place(v));
  for (const ptx::Variable &v : fn.variables) {
    if (v.space == Space::Param) {
      place(v);
    } else if (v.space == Space::Local) {
      out.localBytes = alignUp(out.localBytes, v.align);
      localPlaces[v.name] = out.localBytes;
      out.localBytes += v.bytes;
    }
  }
  out.localBytes = alignUp(out.localBytes, 16);
  out.paramBytes = alignUp(out.paramBytes, 16);
}

void Decoder::run() {
  std::vector<size_t> starts; // of each statement, its first instruction
  for (const ptx::Statement &statement : fn.body) {
    st = &statement;
    starts.push_back(out.code.size());
    auto rule = allRules().find(st->op[0]);
    if (rule == allRules().end())
      unsupported();
    rule->second(*this);
  }
  starts.push_back(out.code.size());
  Inst leave;
  leave.run = leaveFunction;
  out.code.push_back(leave);
  for (Inst &inst : out.code) {
    if (inst.run == branch)
      inst.imm = static_cast<int64_t>(starts[inst.imm]);
    if (inst.run == branchIndexed)
      for (uint32_t &target : inst.list)
        target = static_cast<uint32_t>(starts[target]);
  }
  findJoins(out);
  shareSlots(out, static_cast<uint32_t>(fn.registers.size()));
}

const Operand &Decoder::operand(size_t i) const {
  if (i >= st->operands.size())
    fail("'" + st->name() + "' has too few operands");
  return st->operands[i];
}

Type Decoder::type(size_t i) const {
  std::vector<Type> types = st->types();
  if (i >= types.size())
    unsupported();
  return types[i];
}

void Decoder::fail(const std::string &what) const {
  throw ptx::Error(st->line, what);
}

void Decoder::unsupported() const {
  fail("'" + st->name() + "' is not supported by the emulator");
}

Type Decoder::typeOf(const Operand &op) const {
  return op.reg >= 0 ? fn.registers[op.reg] : Type::None;
}

/// The bits of an immediate as a value of `type`.
static uint64_t immediateBits(const Operand &op, Type type) {
  if (op.form == Operand::Integer)
    return op.bits;
  double value = op.form == Operand::Single
                     ? std::bit_cast<float>(static_cast<uint32_t>(op.bits))
                     : std::bit_cast<double>(op.bits);
  if (ptx::bytesOf(type) == 8)
    return op.form == Operand::Double ? op.bits
                                      : std::bit_cast<uint64_t>(value);
  if (op.form == Operand::Single)
    return op.bits;
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

uint32_t Decoder::source(const Operand &op, Type type) {
  switch (op.kind) {
  case Operand::Register:
    if (op.isNot)
      fail("a negated predicate is not supported here");
    if (const ptx::Special *special =
            ptx::specialNamed(fn.registerNames[op.reg]))
      return setupSlot(
          {Setup::Special, 0, 0, ptx::bytesOf(special->type), special});
    return op.reg + 2;
  case Operand::Immediate:
    if (type == Type::Pred)
      return constant(op.bits ? ~0u : 0, 4);
    return constant(immediateBits(op, type), ptx::bytesOf(type));
  case Operand::Symbol:
    return symbol(op.name, op.offset, ptx::bytesOf(type));
  default:
    fail("unexpected operand of '" + st->name() + "'");
  }
}

uint32_t Decoder::result(const Operand &op) const {
  if (op.kind == Operand::Sink)
    return noResult;
  if (op.kind != Operand::Register)
    fail("the result of '" + st->name() + "' is not a register");
  return op.reg + 2;
}

uint32_t Decoder::setupSlot(Setup setup) {
  for (const Setup &known : out.setup) {
    setup.slot = known.slot;
    if (known == setup)
      return known.slot;
  }
  setup.slot = out.slots++;
  out.setup.push_back(setup);
  return setup.slot;
}

uint32_t Decoder::constant(uint64_t bits, unsigned bytes) {
  return setupSlot({Setup::Constant, 0, bits, bytes});
}

uint32_t Decoder::symbol(const std::string &name, int64_t offset,
                         unsigned bytes) {
  if (auto local = localPlaces.find(name); local != localPlaces.end())
    return setupSlot({Setup::LocalAddress, 0, local->second + offset, bytes});
  if (const Program::Param *p = param(name))
    return constant(p->offset + offset, bytes);
  auto found = symbols.places.find(name);
  if (found == symbols.places.end())
    fail("unknown symbol '" + name + "'");
  auto bits = static_cast<uint64_t>(offset);
  if (found->second.isDynamicShared)
    return setupSlot({Setup::DynamicShared, 0, bits, bytes});
  return constant(found->second.address + bits, bytes);
}

void Decoder::address(Inst &inst, const Operand &op) {
  if (op.kind != Operand::Address)
    fail("'" + st->name() + "' expects an address");
  if (op.reg >= 0) {
    inst.a = op.reg + 2;
    inst.imm = op.offset;
    inst.isWideAddress = ptx::bytesOf(typeOf(op)) == 8;
  } else if (op.name.empty()) {
    inst.a = constant(op.offset, 8);
  } else {
    inst.a = symbol(op.name, op.offset, 8);
  }
}

Inst &Decoder::emit(Handler run, uint32_t d, uint32_t a, uint32_t b,
                    uint32_t c) {
  if (!run)
    unsupported();
  Inst inst;
  inst.run = run;
  inst.d = d;
  inst.a = a;
  inst.b = b;
  inst.c = c;
  inst.guard = st->guard < 0 ? -1 : st->guard + 2;
  inst.guardNot = st->guardNot;
  inst.line = st->line;
  out.code.push_back(std::move(inst));
  return out.code.back();
}

void Decoder::applyRounding() {
  uint8_t mode = st->has("rz") ? 3 : st->has("rm") ? 1 : st->has("rp") ? 2 : 0;
  if (st->has("ftz"))
    mode |= 4;
  if (!mode)
    return;
  Inst &inst = out.code.back();
  inst.inner = inst.run;
  inst.run = rounded;
  inst.rounding = mode;
}

size_t Decoder::labelTarget(const std::string &label) const {
  auto found = fn.labels.find(label);
  if (found == fn.labels.end())
    fail("unknown label '" + label + "'");
  return found->second;
}

const Program *Decoder::function(const std::string &name) const {
  auto found = symbols.programs.find(name);
  if (found == symbols.programs.end())
    fail("call of '" + name + "', which has no body");
  return found->second;
}

const Program::Param *Decoder::param(const std::string &name) const {
  auto found = paramPlaces.find(name);
  return found == paramPlaces.end() ? nullptr : &found->second;
}
