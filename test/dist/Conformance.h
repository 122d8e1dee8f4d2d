//===- Conformance.h - what every transport must do -----------------------===//
//
// One suite for all transports. Values are small integers in floats, so that
// every expected result is exact; it is computed here from the values of all
// ranks, which each rank can compute for itself.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_TEST_DIST_CONFORMANCE_H
#define CLEAVE_TEST_DIST_CONFORMANCE_H

#include "runtime/transport/Transport.h"

#include <chrono>
#include <string>
#include <vector>

namespace cleave::rt::conformance {

/// Everyone; pairs of neighbours; even and odd; everyone in reverse.
GroupTable groupsFor(int world);

/// Runs the suite on this rank of a fresh transport; all ranks call it. Returns
/// what was wrong, in words. `rounds`: repetitions of the small collectives.
std::vector<std::string> check(Transport &transport, int rounds);

/// All ranks but the last start an all-reduce named 'late'; that one sleeps.
void missLastRank(Transport &transport, std::chrono::seconds seconds);

} // namespace cleave::rt::conformance

#endif
