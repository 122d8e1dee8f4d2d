//===- MeasureRanks.h - measure the machines that ranks run on ------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_MEASURERANKS_H
#define CLEAVE_TOOLS_CLEAVE_MEASURERANKS_H

#include "tools/cleave/Measure.h"

namespace cleave {

/// Measures the ranks that a launcher has started, of which this process is
/// one: every host its devices, one rank for all of that host, then all ranks
/// the links between them. On rank 0 the result; elsewhere none with ExitDone.
/// What goes wrong has been said.
struct RanksMeasured {
  int code = 0;
  std::optional<Measurements> found;
};
RanksMeasured measureRanks(const MeasureStep &step);

} // namespace cleave

#endif
