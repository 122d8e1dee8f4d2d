//===- Matrix.cpp - tensor-core instructions ------------------------------===//
//
// Fragments of mma.sync, for an element type of which E fit into a register
// (g = lane / 4, t = lane % 4):
//   A, register r, element e: row g + 8 (r % 2), column t E + e + 4 E (r / 2)
//   B, register r, element e: row t E + e + 4 E r, column g
//   C and D, value i of 4:    row g + 8 (i / 2), column 2 t + i % 2
// Products are exact and summed in double, so that a result is rounded once.
//
//===----------------------------------------------------------------------===//

#include "exec/Access.h"
#include "exec/Decoder.h"
#include "exec/Operators.h"

#include <algorithm>

using namespace cudaemu;
using ptx::Operand;
using ptx::Type;

namespace {
constexpr unsigned rows = 16, columns = 8, mostDepth = 32;

unsigned perRegister(Type type) {
  return type == Type::TF32 ? 1 : type == Type::S8 || type == Type::U8 ? 4 : 2;
}

/// Element e of a register.
double element(Type type, uint32_t bits, unsigned e) {
  switch (type) {
  case Type::F16:
    return std::bit_cast<Half>(static_cast<uint16_t>(bits >> (16 * e)));
  case Type::BF16:
    return std::bit_cast<BFloat>(static_cast<uint16_t>(bits >> (16 * e)));
  case Type::S8:
    return static_cast<int8_t>(bits >> (8 * e));
  case Type::U8:
    return static_cast<uint8_t>(bits >> (8 * e));
  default: // the lower bits of a tf32 do not count
    return std::bit_cast<float>(bits & ~0x1fffu);
  }
}

/// Registers of an mma in Inst::list: d, a, b, c; how many of each is in imm.
struct Shape {
  uint8_t d, a, b, c;
};
Shape shapeOf(const Inst &i) {
  auto packed = static_cast<uint32_t>(i.imm);
  return std::bit_cast<Shape>(packed);
}

double accumulator(const Warp &w, const uint32_t *slots, Type type,
                   unsigned lane, unsigned value) {
  if (type == Type::F16)
    return w.reg<Half>(slots[value / 2])[2 * lane + value % 2];
  if (type == Type::S32)
    return w.reg<int32_t>(slots[value])[lane];
  return w.reg<float>(slots[value])[lane];
}
} // namespace

static void multiplyMatrices(Warp &w, const Inst &i) {
  if (w.exec != ~0u)
    w.fault(0, 719, "mma without all lanes of the warp");
  Shape shape = shapeOf(i);
  const uint32_t *d = i.list.data(), *a = d + shape.d, *b = a + shape.a,
                 *c = b + shape.b;
  auto typeA = static_cast<Type>(i.bytes),
       typeB = static_cast<Type>(i.regBytes);
  auto typeC = static_cast<Type>(i.mode);
  unsigned e = perRegister(typeA), depth = 4 * e * shape.b;
  double matrixA[rows][mostDepth], matrixB[mostDepth][columns];
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < shape.a; ++r)
      for (unsigned x = 0; x < e; ++x)
        matrixA[g + 8 * (r % 2)][t * e + x + 4 * e * (r / 2)] =
            element(typeA, w.reg<uint32_t>(a[r])[lane], x);
    for (unsigned r = 0; r < shape.b; ++r)
      for (unsigned x = 0; x < e; ++x)
        matrixB[t * e + x + 4 * e * r][g] =
            element(typeB, w.reg<uint32_t>(b[r])[lane], x);
  }
  double product[rows][columns] = {};
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned k = 0; k < depth; ++k)
      for (unsigned col = 0; col < columns; ++col)
        product[row][col] += matrixA[row][k] * matrixB[k][col];
  double results[lanesOfWarp][4];
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    for (unsigned v = 0; v < 4; ++v)
      results[lane][v] =
          product[lane / 4 + 8 * (v / 2)][2 * (lane % 4) + v % 2] +
          accumulator(w, c, typeC, lane, v);
  uint32_t unknown = 0;
  for (size_t k = shape.d; k < i.list.size(); ++k)
    unknown |= w.marks[i.list[k]];
  for (unsigned k = 0; k < shape.d; ++k)
    w.marks[d[k]] = unknown ? ~0u : 0;
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    for (unsigned v = 0; v < 4; ++v)
      if (typeC == Type::F16)
        w.reg<Half>(d[v / 2])[2 * lane + v % 2] =
            static_cast<Half>(roundToOdd(results[lane][v]));
      else if (typeC == Type::S32)
        w.reg<int32_t>(d[v])[lane] =
            static_cast<int32_t>(static_cast<int64_t>(results[lane][v]));
      else
        w.reg<float>(d[v])[lane] = static_cast<float>(results[lane][v]);
}

/// mma.sync.aligned.SHAPE.row.col.D.A.B.C {d}, {a}, {b}, {c}
static void decodeMultiply(Decoder &d) {
  const ptx::Statement &st = d.statement();
  if (!st.has("row") || !st.has("col") || st.has("sp") ||
      st.types().size() != 4)
    d.unsupported();
  Type typeD = d.type(0), typeA = d.type(1), typeC = d.type(3);
  bool isKnown = typeD == typeC && (typeC == Type::F32 || typeC == Type::F16 ||
                                    typeC == Type::S32);
  for (Type t : {typeA, d.type(2)})
    isKnown &= t == Type::F16 || t == Type::BF16 || t == Type::TF32 ||
               t == Type::S8 || t == Type::U8;
  Shape shape;
  uint8_t *counts[] = {&shape.d, &shape.a, &shape.b, &shape.c};
  std::vector<uint32_t> list;
  for (size_t k = 0; k < 4; ++k) {
    const std::vector<Operand> &parts = d.operand(k).parts;
    *counts[k] = static_cast<uint8_t>(parts.size());
    for (const Operand &part : parts)
      list.push_back(k == 0 ? d.result(part) : d.source(part, Type::B32));
  }
  unsigned depth = 4 * perRegister(typeA) * shape.b;
  if (!isKnown || !st.has("m16n8k" + std::to_string(depth)) ||
      shape.a != 2 * shape.b || shape.d != (typeC == Type::F16 ? 2 : 4))
    d.unsupported();
  Inst &i = d.emit(multiplyMatrices);
  i.list = std::move(list);
  i.results = shape.d;
  i.bytes = static_cast<uint8_t>(typeA);
  i.regBytes = static_cast<uint8_t>(d.type(2));
  i.mode = static_cast<uint8_t>(typeC);
  i.imm = std::bit_cast<uint32_t>(shape);
  i.marksResult = false;
}

/// Lane 8 m + r has the address of row r of matrix m: 8 elements of 16 bits.
/// Lane l gets (or gives) elements 2 (l % 4) and the next of row l / 4; with
/// .trans the matrix is transposed.
template <bool IsLoad> static void moveMatrices(Warp &w, const Inst &i) {
  if (w.exec != ~0u)
    w.fault(0, 719, "ldmatrix without all lanes of the warp");
  size_t count = i.list.size();
  Access access;
  w.exec = count == 4 ? ~0u : (1u << (8 * count)) - 1;
  resolve(w, i, 16, IsLoad ? AccessKind::Load : AccessKind::Store, access);
  w.exec = ~0u;
  for (size_t m = 0; m < count; ++m) {
    auto *values = w.reg<uint16_t>(i.list[m]);
    uint32_t &marks = w.marks[i.list[m]];
    uint32_t unknown = 0;
    for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
      for (unsigned e = 0; e < 2; ++e) {
        unsigned row = lane / 4, col = 2 * (lane % 4) + e;
        if (i.mode)
          std::swap(row, col);
        size_t owner = 8 * m + row;
        char *at = access.at[owner] + 2 * col;
        uint8_t *markAt =
            access.marks[owner] ? access.marks[owner] + 2 * col : nullptr;
        if (IsLoad) {
          std::memcpy(&values[2 * lane + e], at, 2);
          if (markAt && !(markAt[0] & markAt[1]))
            unknown |= 1u << lane;
        } else {
          std::memcpy(at, &values[2 * lane + e], 2);
          if (markAt)
            markAt[0] = markAt[1] = !(marks >> lane & 1);
        }
      }
    if (IsLoad)
      marks = unknown;
  }
}

static void decodeMatrices(Decoder &d, bool isLoad) {
  const ptx::Statement &st = d.statement();
  if (!st.has("m8n8") || d.type() != Type::B16)
    d.unsupported();
  const Operand &registers = d.operand(isLoad ? 0 : 1);
  Inst &i = d.emit(isLoad ? moveMatrices<true> : moveMatrices<false>);
  for (const Operand &part : registers.parts)
    i.list.push_back(isLoad ? d.result(part) : d.source(part, Type::B32));
  i.results = isLoad ? static_cast<uint32_t>(i.list.size()) : 0;
  i.mode = st.has("trans");
  i.space = spaceOf(st);
  i.marksResult = false;
  d.address(i, d.operand(isLoad ? 1 : 0));
}

static constexpr Rule rules[] = {
    {"mma", decodeMultiply},
    {"ldmatrix", [](Decoder &d) { decodeMatrices(d, true); }},
    {"stmatrix", [](Decoder &d) { decodeMatrices(d, false); }},
};
std::span<const Rule> cudaemu::matrixRules() { return rules; }
