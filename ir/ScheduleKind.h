//===- ScheduleKind.h - orders of micro-batches by name -------------------===//
//
// The planner writes which one is wanted, the schedule phase makes it.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_SCHEDULEKIND_H
#define CLEAVE_IR_SCHEDULEKIND_H

#include "llvm/ADT/StringRef.h"

namespace cleave {

/// Of a module: a string for which isSchedule holds; absent: 1f1b.
inline constexpr llvm::StringLiteral ScheduleAttrName = "cleave.schedule_kind";

inline bool isSchedule(llvm::StringRef name) {
  return name == "gpipe" || name == "1f1b";
}

} // namespace cleave

#endif
