//===- Control.cpp - branches, calls and exits ----------------------------===//

#include "exec/Block.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"

#include <bit>

using namespace cudaemu;
using ptx::Operand;

/// Splits the path: `taken` go to `target`, the rest to `other`, and all meet
/// at the join of the instruction.
static void diverge(Warp &w, const Inst &i, uint32_t target, uint32_t taken,
                    uint32_t other) {
  uint32_t rest = w.active & ~taken, meet = i.join;
  if (meet != w.join)
    w.paths.push_back({meet, w.join, w.active});
  if (other != meet)
    w.paths.push_back({other, meet, rest});
  if (target != meet)
    w.paths.push_back({target, meet, taken});
  w.resume();
}

void cudaemu::branch(Warp &w, const Inst &i) {
  auto target = static_cast<uint32_t>(i.imm);
  if (w.exec == w.active)
    w.pc = target;
  else
    diverge(w, i, target, w.exec, w.pc);
}

/// Lanes with the index of the first one go; the others come here again.
void cudaemu::branchIndexed(Warp &w, const Inst &i) {
  if (w.checksMarks && (w.marks[i.a] & w.exec))
    w.faultUninitialised(w.marks[i.a] & w.exec, "an index of brx");
  const auto *index = w.reg<uint32_t>(i.a);
  unsigned first = std::countr_zero(w.exec);
  if (index[first] >= i.list.size())
    w.fault(first, 718,
            "brx.idx to target " + std::to_string(index[first]) + " of " +
                std::to_string(i.list.size()));
  uint32_t same =
      w.exec & lanesWhere([&](int k) { return index[k] == index[first]; });
  if (same == w.active)
    w.pc = i.list[index[first]];
  else
    diverge(w, i, i.list[index[first]], same, w.pc - 1);
}

void cudaemu::exitLanes(Warp &w, const Inst &) {
  w.live &= ~w.exec;
  w.active &= ~w.exec;
  if (!w.active)
    w.resume();
}

void cudaemu::leaveFunction(Warp &w, const Inst &) { w.leave(); }

static void trap(Warp &w, const Inst &i) {
  w.fault(std::countr_zero(w.exec), 719, "trap");
}

static void doNothing(Warp &, const Inst &) {}

/// `list` has of each result and then of each argument its place in the
/// caller's param area; results come first (leave() copies those).
static void call(Warp &w, const Inst &i) {
  size_t depth = w.depth;
  uint32_t lanes = w.exec;
  const Program &callee = *i.callee;
  w.paths.push_back({w.pc, w.join, w.active});
  w.enter(callee, &i, lanes);
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    if (lanes >> lane & 1)
      for (size_t k = 0; k < callee.params.size(); ++k)
        std::memcpy(w.params(depth + 1, lane) + callee.params[k].offset,
                    w.params(depth, lane) + i.list[callee.results.size() + k],
                    callee.params[k].bytes);
}

static void decodeBranch(Decoder &d) {
  if (d.operand(0).kind != Operand::Symbol)
    d.unsupported();
  d.emit(branch).imm = static_cast<int64_t>(d.labelTarget(d.operand(0).name));
}

static void decodeBranchIndexed(Decoder &d) {
  auto targets = d.syntax().targets.find(d.operand(1).name);
  if (targets == d.syntax().targets.end())
    d.fail("unknown list of targets '" + d.operand(1).name + "'");
  Inst &i = d.emit(branchIndexed, noResult, d.source(0, ptx::Type::U32));
  for (const std::string &label : targets->second)
    i.list.push_back(static_cast<uint32_t>(d.labelTarget(label)));
}

/// A return goes to the last instruction, which leaves the function.
static void decodeReturn(Decoder &d) {
  d.emit(branch).imm = static_cast<int64_t>(d.syntax().body.size());
}

static void decodeCall(Decoder &d) {
  std::vector<uint32_t> places;
  std::string name;
  for (size_t k = 0; k < d.operands(); ++k) {
    const Operand &op = d.operand(k);
    if (op.kind == Operand::Symbol && name.empty()) {
      name = op.name;
      continue;
    }
    if (op.kind != Operand::List)
      d.fail("calls through a register are not supported");
    for (const Operand &part : op.parts) {
      const Program::Param *place = d.param(part.name);
      if (!place)
        d.fail("an argument of a call is not a .param variable");
      places.push_back(static_cast<uint32_t>(place->offset));
    }
  }
  const Program *callee = d.function(name);
  if (callee->params.size() + callee->results.size() != places.size())
    d.fail("'" + name + "' is called with another number of arguments");
  Inst &i = d.emit(call);
  i.callee = callee;
  i.list = std::move(places);
}

static constexpr Rule rules[] = {
    {"bra", decodeBranch},
    {"brx", decodeBranchIndexed},
    {"ret", decodeReturn},
    {"exit", [](Decoder &d) { d.emit(exitLanes); }},
    {"trap", [](Decoder &d) { d.emit(trap); }},
    {"call", decodeCall},
    {"nanosleep", [](Decoder &d) { d.emit(doNothing); }},
    {"membar", [](Decoder &d) { d.emit(doNothing); }},
    {"fence", [](Decoder &d) { d.emit(doNothing); }},
    {"prefetch", [](Decoder &d) { d.emit(doNothing); }},
    {"prefetchu", [](Decoder &d) { d.emit(doNothing); }},
    {"discard", [](Decoder &d) { d.emit(doNothing); }},
    {"griddepcontrol", [](Decoder &d) { d.emit(doNothing); }},
    {"setmaxnreg", [](Decoder &d) { d.emit(doNothing); }},
};
std::span<const Rule> cudaemu::controlRules() { return rules; }
