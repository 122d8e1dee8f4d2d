//===- Program.h - a PTX function in decoded form -------------------------===//
//
// A warp has a frame for each function that it is in: for each register a slot
// of 256 bytes, the values of its 32 lanes one after another (of a predicate a
// mask of lanes). Immediates, addresses of symbols and special registers are
// slots, too, that are filled when the frame is made, so that an operand of an
// instruction is always a slot.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ptx/Special.h"
#include "ptx/Syntax.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cudaemu {

struct Warp;
struct Inst;
struct Program;
using Handler = void (*)(Warp &, const Inst &);

inline constexpr unsigned lanesOfWarp = 32;
inline constexpr size_t slotBytes = 256;
/// Slot 0 is never written: what an instruction without that operand reads.
/// What it does not write goes to slot 1.
inline constexpr uint32_t noSource = 0, noResult = 1;

struct Inst {
  Handler run = nullptr;
  Handler inner = nullptr; ///< What a wrapper such as `rounded` calls.
  uint32_t d = noResult;
  uint32_t a = noSource, b = noSource, c = noSource;
  int32_t guard = -1; ///< Slot of the predicate, or -1.
  bool guardNot = false;
  bool marksResult = true;   ///< Uninitialised sources make `d` uninitialised.
  bool isWideAddress = true; ///< The base of an address has 64 bits.
  bool isSigned = false;
  ptx::Space space = ptx::Space::Generic;
  uint8_t bytes = 0;    ///< Of one element in memory.
  uint8_t regBytes = 0; ///< Of the register that holds it.
  uint8_t mode = 0;     ///< As the handler has it.
  uint8_t rounding = 0; ///< For `rounded`.
  int64_t imm = 0;      ///< Offset of an address, target of a branch.
  int64_t offset = 0;   ///< Of a second address.
  uint32_t join = 0;    ///< Where the lanes of a branch meet again.
  /// More slots: vectors, fragments; the first `results` of them are written.
  std::vector<uint32_t> list;
  uint32_t results = 0;
  const Program *callee = nullptr;
  int line = 0;
};

/// What fills a slot when a frame is made.
struct Setup {
  enum Kind { Constant, Special, LocalAddress, DynamicShared } kind;
  uint32_t slot;
  uint64_t bits;  ///< Constant; offset of an address.
  unsigned bytes; ///< Of the value of a lane.
  const ptx::Special *special = nullptr;
  bool operator==(const Setup &) const = default;
};

struct Program {
  std::string name;
  bool isEntry = false;
  std::vector<Inst> code; ///< The last one leaves the function.
  uint32_t slots = 2;
  std::vector<Setup> setup;
  size_t localBytes = 0;  ///< Of each lane, this function alone.
  size_t stackBytes = 0;  ///< Of each lane, with what it calls.
  size_t sharedBytes = 0; ///< Static, without the dynamic part.
  /// `.param` variables: for an entry the buffer of the launch, otherwise an
  /// area of each lane in the frame.
  struct Param {
    size_t offset, bytes;
  };
  std::vector<Param> params, results;
  size_t paramBytes = 0;
  unsigned maxThreads = 1024;
  unsigned requiredThreads[3] = {};
  int maxDynamicShared = 48 << 10; ///< cuFuncSetAttribute
};

} // namespace cudaemu
