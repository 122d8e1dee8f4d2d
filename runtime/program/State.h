//===- State.h - a rank's weights in memory -------------------------------===//
//
// Maps the weights file read-only: ranks of one host that use the same file
// share its pages. What a step may write, and what the file does not align, is
// copied.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_PROGRAM_STATE_H
#define CLEAVE_RUNTIME_PROGRAM_STATE_H

#include "runtime/Context.h"
#include "runtime/program/Manifest.h"
#include "runtime/support/AlignedBuffer.h"
#include "runtime/support/MappedFile.h"

namespace cleave::rt {

class RankState {
public:
  /// Throws Failure (ExitMismatch) when the file does not hold a tensor of the
  /// program, or holds it with another type or shape.
  RankState(const Manifest &manifest, int rank);
  RankState(const RankState &) = delete;
  RankState &operator=(const RankState &) = delete;

  /// Addresses in the order of the program's state table.
  void *const *addresses() const { return pointers.data(); }
  /// Tells the context which memory never changes.
  void declareConstants(CleaveContext &context) const;

private:
  void place(const StateInfo &info, int64_t offset, int64_t bytes);

  std::optional<MappedFile> file;
  std::vector<void *> pointers;
  std::vector<AlignedBuffer> copies;
  struct Constant {
    const void *begin;
    size_t bytes;
    bool isMapped;
  };
  std::vector<Constant> constants;
};

} // namespace cleave::rt

#endif
