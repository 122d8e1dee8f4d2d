//===- Call.h - what the members of a group must agree on -----------------===//
//
// A collective call as messages name it, with a digest of kind and sizes. Two
// members with different digests are in different operations: a fault in the
// order of collectives that would otherwise mix up data in silence.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRANSPORT_CALL_H
#define CLEAVE_RUNTIME_TRANSPORT_CALL_H

#include "runtime/support/Error.h"

#include <cstdint>
#include <initializer_list>

namespace cleave::rt {

struct Call {
  const char *kind; ///< "all_reduce"
  const char *op;   ///< the user's node
  uint64_t signature;

  Call(const char *kind, const char *op,
       std::initializer_list<int64_t> sizes = {})
      : kind(kind), op(op ? op : ""), signature(0xcbf29ce484222325) {
    for (const char *c = kind; *c; ++c)
      mix(static_cast<unsigned char>(*c));
    for (int64_t size : sizes)
      mix(static_cast<uint64_t>(size));
  }

  /// "all_reduce 'blocks.0/attn/MatMul'"
  std::string text() const { return fmt::format("{} '{}'", kind, op); }

private:
  /// One step of FNV-1a on 64-bit words.
  void mix(uint64_t word) { signature = (signature ^ word) * 0x100000001b3; }
};

/// The failure of a wait that has run out.
[[noreturn]] inline void failLate(int rank, const Call &call, double seconds) {
  fail(ExitPeer, "rank {} did not arrive in {} after {} s", rank, call.text(),
       seconds);
}

[[noreturn]] inline void failDisagree(int rank, const Call &call) {
  fail(ExitPeer,
       "rank {} is in another operation or has other sizes than {} of this "
       "rank",
       rank, call.text());
}

/// The failure of a wait that ends because another rank has failed.
[[noreturn]] inline void failStopped(const Call &call) {
  fail(ExitPeer, "another rank failed during {}", call.text());
}

} // namespace cleave::rt

#endif
