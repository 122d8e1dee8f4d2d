//===- Move.cpp - moves between registers, and addresses ------------------===//

#include "exec/Access.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"
#include "exec/Operators.h"

using namespace cudaemu;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

template <class T> static void copy(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  writeLanes(w, w.reg<T>(i.d), [&](int k) { return a[k]; });
}

Handler cudaemu::copyOf(unsigned bytes) {
  switch (bytes) {
  case 1:
    return copy<uint8_t>;
  case 2:
    return copy<uint16_t>;
  case 4:
    return copy<uint32_t>;
  case 8:
    return copy<uint64_t>;
  default:
    return nullptr;
  }
}

static void copyPredicate(Warp &w, const Inst &i) {
  writePredicate(w, i.d, w.predicate(i.a));
}

/// The parts in `list`, of `bytes` each, make the wider d.
static void pack(Warp &w, const Inst &i) {
  char made[slotBytes];
  size_t count = i.list.size(), whole = count * i.bytes;
  uint32_t from = 0;
  for (size_t e = 0; e < count; ++e) {
    const char *part = w.reg<char>(i.list[e]);
    from |= w.marks[i.list[e]];
    for (unsigned k = 0; k < lanesOfWarp; ++k)
      std::memcpy(made + k * whole + e * i.bytes, part + k * i.bytes, i.bytes);
  }
  char *d = w.reg<char>(i.d);
  for (unsigned k = 0; k < lanesOfWarp; ++k)
    if (w.exec >> k & 1)
      std::memcpy(d + k * whole, made + k * whole, whole);
  w.marks[i.d] = (w.marks[i.d] & ~w.exec) | (from & w.exec);
}

/// The parts of a go to `list`.
static void unpack(Warp &w, const Inst &i) {
  size_t count = i.list.size(), whole = count * i.bytes;
  char from[slotBytes];
  std::memcpy(from, w.reg<char>(i.a), lanesOfWarp * whole);
  for (size_t e = 0; e < count; ++e) {
    char *part = w.reg<char>(i.list[e]);
    for (unsigned k = 0; k < lanesOfWarp; ++k)
      if (w.exec >> k & 1)
        std::memcpy(part + k * i.bytes, from + k * whole + e * i.bytes,
                    i.bytes);
    uint32_t &marks = w.marks[i.list[e]];
    marks = (marks & ~w.exec) | (w.marks[i.a] & w.exec);
  }
}

static void decodeMove(Decoder &d) {
  Type t = d.type();
  const Operand &to = d.operand(0), &from = d.operand(1);
  if (t == Type::Pred)
    return void(d.emit(copyPredicate, d.result(0), d.source(1, t)));
  unsigned bytes = ptx::bytesOf(t);
  if (to.kind != Operand::List && from.kind != Operand::List)
    return void(d.emit(copyOf(bytes), d.result(0), d.source(1, t)));
  const Operand &parts = to.kind == Operand::List ? to : from;
  std::vector<uint32_t> list;
  auto part = static_cast<uint8_t>(bytes / parts.parts.size());
  Type partType = part == 2 ? Type::B16 : part == 4 ? Type::B32 : Type::B64;
  if (part < 2 || bytes > 8)
    d.unsupported();
  bool packs = &parts == &from;
  for (const Operand &p : parts.parts)
    list.push_back(packs ? d.source(p, partType) : d.result(p));
  Inst &i = packs ? d.emit(pack, d.result(0))
                  : d.emit(unpack, noResult, d.source(1, t));
  i.results = packs ? 0 : static_cast<uint32_t>(list.size());
  i.list = std::move(list);
  i.bytes = part;
  i.marksResult = false;
}

Space cudaemu::spaceOf(const ptx::Statement &st) {
  for (const std::string &part : st.op) {
    if (part == "global")
      return Space::Global;
    if (part.starts_with("shared"))
      return Space::Shared;
    if (part == "local")
      return Space::Local;
    if (part == "const")
      return Space::Const;
    if (part.starts_with("param"))
      return Space::Param;
  }
  return Space::Generic;
}

static uint64_t windowOf(Space space) {
  return space == Space::Shared  ? sharedWindow
         : space == Space::Local ? localWindow
         : space == Space::Param ? paramWindow
                                 : 0;
}

/// cvta adds the window of the space, cvta.to takes it off.
template <class T> static void convertAddress(Warp &w, const Inst &i) {
  const T *a = w.reg<T>(i.a);
  auto add = static_cast<T>(i.imm);
  writeLanes(w, w.reg<T>(i.d), [&](int k) { return a[k] + add; });
}

static void decodeConvertAddress(Decoder &d) {
  const ptx::Statement &st = d.statement();
  Type t = d.type();
  uint64_t window = windowOf(spaceOf(st));
  if (window && ptx::bytesOf(t) != 8)
    d.unsupported();
  d.emit(ptx::bytesOf(t) == 8 ? convertAddress<uint64_t>
                              : convertAddress<uint32_t>,
         d.result(0), d.source(1, t))
      .imm = static_cast<int64_t>(st.has("to") ? -window : window);
}

static void isInSpace(Warp &w, const Inst &i) {
  const auto *a = w.reg<uint64_t>(i.a);
  writePredicate(w, i.d, lanesWhere([&](int k) {
                   return (a[k] & windowMask) == static_cast<uint64_t>(i.imm);
                 }));
}

static void decodeIsInSpace(Decoder &d) {
  d.emit(isInSpace, d.result(0), d.source(1, Type::U64)).imm =
      static_cast<int64_t>(windowOf(spaceOf(d.statement())));
}

static constexpr Rule rules[] = {
    {"mov", decodeMove},
    {"cvta", decodeConvertAddress},
    {"isspacep", decodeIsInSpace},
};
std::span<const Rule> cudaemu::moveRules() { return rules; }
