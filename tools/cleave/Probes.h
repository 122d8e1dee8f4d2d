//===- Probes.h - small programs that take time for one reason ------------===//
//
// `cleave doctor --measure` compiles and runs them, so that what it measures is
// what programs get: library calls, generated kernels, collectives. Each has
// one input x of rows x columns floats, and its step is short: some steps are
// then undisturbed by what else the machine does. On several ranks the rows are
// divided (--dp), so that all do the same at once, and the output is one
// column, so that gathering it takes no time.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_PROBES_H
#define CLEAVE_TOOLS_CLEAVE_PROBES_H

#include <cstdint>
#include <string>

namespace cleave {

struct Probe {
  std::string what;   ///< for messages and comments
  std::string module; ///< a logical module, as text
  std::string plan;   ///< plan.json
  int64_t ranks = 1;
  int64_t rows = 0, columns = 0; ///< of x
  /// On a rank: operations, bytes moved, kernels started, or collectives.
  double amount = 0;
};

/// FLOPs of 4 products of 256 x 512 by 512 x 512.
Probe makeProducts(int64_t ranks);
/// FLOPs of twice gelu and a norm of 256 x 1024.
Probe makeVectors(int64_t ranks);
/// Bytes of y = -x, `kib` KiB each.
Probe makeStream(int64_t ranks, int64_t kib);
/// Bytes of 16384 rows of 256 bytes that are read in no order from 64 MiB, and
/// written.
Probe makeScattered(int64_t ranks);
/// Starts of 64 norms and 64 products of 16 floats.
Probe makeStarts(int64_t ranks);
/// 4 products whose results of rows x columns are partial sums over all ranks,
/// which an all-reduce completes. On one rank: the same products without it.
Probe makeReductions(int64_t ranks, int64_t rows, int64_t columns);

} // namespace cleave

#endif
