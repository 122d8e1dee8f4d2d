//===- Position.h - how far a run has come in its data --------------------===//
#ifndef CLEAVE_RUNTIME_DATA_POSITION_H
#define CLEAVE_RUNTIME_DATA_POSITION_H

#include <cstdint>

namespace cleave::rt {

struct DataPosition {
  uint64_t seed = 0;   ///< of the order
  int64_t samples = 0; ///< in the data
  int64_t epoch = 0;   ///< that runs, from 0
  int64_t next = 0;    ///< place of the next sample in the epoch's order
};

} // namespace cleave::rt

#endif
