//===- Agree.h - what ranks tell each other before and between phases -----===//
//
// Between the phases of a run all ranks exchange how they fared, so that an
// error of one ends all at once and is told once.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_AGREE_H
#define CLEAVE_RUNTIME_MAIN_AGREE_H

#include "runtime/program/Manifest.h"
#include "runtime/support/Error.h"

namespace cleave::rt {

/// A failure that all ranks know of: rank 0 tells it, nobody needs to be ended.
class AgreedFailure : public Failure {
  using Failure::Failure;
};

/// Exchanges what each rank has found wrong with itself, if anything; throws
/// AgreedFailure on all when one has: the first rank's.
void agree(Transport &transport, const std::optional<Failure> &own,
           const char *phase);

/// Runs a phase of this rank alone, then agrees on its outcome.
template <typename Body>
void phase(Transport &transport, const char *name, Body body) {
  agree(transport, catchFailure(body), name);
}

/// All ranks must run the same plan of the same build.
void verifySameBuild(const Manifest &manifest, Transport &transport);

} // namespace cleave::rt

#endif
