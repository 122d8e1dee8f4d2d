//===- Special.h - the special registers ----------------------------------===//
#pragma once

#include "ptx/Types.h"

#include <string_view>

namespace cudaemu::ptx {

/// A special register is an ordinary register that is written when a warp
/// starts; clocks stand still at the time of that start.
struct Special {
  enum Kind {
    Tid,
    Ntid,
    Ctaid,
    Nctaid,
    Laneid,
    Warpid,
    Nwarpid,
    Smid,
    Nsmid,
    Gridid,
    LanemaskEq,
    LanemaskLt,
    LanemaskLe,
    LanemaskGt,
    LanemaskGe,
    Clock,
    WarpSize,
    DynamicSmem,
    Zero,
    One,
  };
  std::string_view name;
  Kind kind;
  unsigned dim; ///< 0 to 2 for x, y, z.
  Type type;
};

/// Null when it is not the name of a special register.
const Special *specialNamed(std::string_view name);

} // namespace cudaemu::ptx
