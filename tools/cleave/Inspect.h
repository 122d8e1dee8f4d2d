//===- Inspect.h - what cleave inspect can look into ----------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_INSPECT_H
#define CLEAVE_TOOLS_CLEAVE_INSPECT_H

#include "frontend/Import.h"
#include "ir/Figures.h"
#include "tools/cleave/CompileFlags.h"

#include <string>

namespace cleave {

struct InspectFlags {
  std::string path;
  bool json = false;
  bool check = false; ///< compare the files of OUT with their checksums
  ModelFlags modelFlags;
};

/// Each prints facts to standard output and returns an exit code.
int inspectOut(const InspectFlags &flags);
int inspectModel(const InspectFlags &flags, const ImportOptions &options);
int inspectPlan(const InspectFlags &flags);
int inspectTensors(const InspectFlags &flags);

} // namespace cleave

#endif
