//===- MemoryOps.cpp - loads and stores -----------------------------------===//

#include "exec/Access.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"
#include "exec/Operators.h"

#include <algorithm>
#include <type_traits>

using namespace cudaemu;
using ptx::Operand;
using ptx::Type;

/// Lanes of which not all of `Bytes` bytes are initialised.
template <size_t Bytes>
static uint32_t unmarked(const Warp &w, const Access &access, size_t from) {
  uint32_t found = 0;
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1) || !access.marks[k])
      continue;
    uint64_t marks = 0;
    std::memcpy(&marks, access.marks[k] + from, Bytes);
    found |=
        static_cast<uint32_t>(marks != 0x0101010101010101 >> (64 - 8 * Bytes))
        << k;
  }
  return found;
}

/// A value in a wider register, by the sign of its type.
template <class R, class T> static R extended(T value) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<R>(static_cast<int64_t>(value));
  else
    return value;
}

template <class R, class T>
static void loadElement(Warp &w, const Access &access, uint32_t slot,
                        size_t from) {
  R *d = w.reg<R>(slot);
  for (unsigned k = 0; k < lanesOfWarp; ++k) {
    if (!(w.exec >> k & 1))
      continue;
    T value;
    std::memcpy(&value, access.at[k] + from, sizeof(T));
    d[k] = extended<R>(value);
  }
}

template <class R, class T> static void load(Warp &w, const Inst &i) {
  Access access;
  size_t count = i.list.size();
  resolve(w, i, static_cast<uint32_t>(count * sizeof(T)), AccessKind::Load,
          access);
  for (size_t e = 0; e < count; ++e) {
    loadElement<R, T>(w, access, i.list[e], e * sizeof(T));
    if (w.checksMarks) {
      uint32_t &marks = w.marks[i.list[e]];
      marks = (marks & ~w.exec) | unmarked<sizeof(T)>(w, access, e * sizeof(T));
    }
  }
}

template <class R, class T> static void store(Warp &w, const Inst &i) {
  Access access;
  size_t count = i.list.size();
  resolve(w, i, static_cast<uint32_t>(count * sizeof(T)), AccessKind::Store,
          access);
  for (size_t e = 0; e < count; ++e) {
    const R *from = w.reg<R>(i.list[e]);
    for (unsigned k = 0; k < lanesOfWarp; ++k) {
      if (!(w.exec >> k & 1))
        continue;
      auto value = static_cast<T>(from[k]);
      std::memcpy(access.at[k] + e * sizeof(T), &value, sizeof(T));
      if (w.checksMarks && access.marks[k])
        std::memset(access.marks[k] + e * sizeof(T),
                    !(w.marks[i.list[e]] >> k & 1), sizeof(T));
    }
  }
}

template <class R, class T> static Handler either(bool isLoad) {
  return isLoad ? load<R, T> : store<R, T>;
}

template <class R>
static Handler elementHandler(unsigned bytes, bool isSigned, bool isLoad) {
  switch (bytes) {
  case 1:
    return isSigned ? either<R, int8_t>(isLoad) : either<R, uint8_t>(isLoad);
  case 2:
    return isSigned ? either<R, int16_t>(isLoad) : either<R, uint16_t>(isLoad);
  case 4:
    return isSigned ? either<R, int32_t>(isLoad) : either<R, uint32_t>(isLoad);
  case 8:
    return either<R, uint64_t>(isLoad);
  default:
    return nullptr;
  }
}

static Handler accessHandler(unsigned regBytes, Type type, bool isLoad) {
  unsigned bytes = ptx::bytesOf(type);
  if (regBytes < bytes)
    return nullptr;
  switch (regBytes) {
  case 1:
    return elementHandler<uint8_t>(bytes, isSigned(type), isLoad);
  case 2:
    return elementHandler<uint16_t>(bytes, isSigned(type), isLoad);
  case 4:
    return elementHandler<uint32_t>(bytes, isSigned(type), isLoad);
  case 8:
    return elementHandler<uint64_t>(bytes, isSigned(type), isLoad);
  default:
    return nullptr;
  }
}

static void decodeAccess(Decoder &d, bool isLoad) {
  const ptx::Statement &st = d.statement();
  Type type = d.type();
  const Operand &value = d.operand(isLoad ? 0 : 1);
  std::vector<Operand> parts = value.parts;
  if (value.kind != Operand::List)
    parts = {value};
  unsigned regBytes = ptx::bytesOf(type);
  std::vector<uint32_t> list;
  for (const Operand &part : parts) {
    if (part.kind == Operand::Register)
      regBytes = ptx::bytesOf(d.typeOf(part));
    list.push_back(isLoad ? d.result(part) : d.source(part, type));
  }
  Inst &i = d.emit(accessHandler(regBytes, type, isLoad));
  i.list = std::move(list);
  i.results = isLoad ? static_cast<uint32_t>(i.list.size()) : 0;
  i.space = spaceOf(st);
  i.marksResult = false;
  d.address(i, d.operand(isLoad ? 1 : 0));
}

static constexpr Rule rules[] = {
    {"ld", [](Decoder &d) { decodeAccess(d, true); }},
    {"ldu", [](Decoder &d) { decodeAccess(d, true); }},
    {"st", [](Decoder &d) { decodeAccess(d, false); }},
};
std::span<const Rule> cudaemu::memoryRules() { return rules; }
