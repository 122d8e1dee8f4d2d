//===- CandidateTable.h - the candidates in the IR and for the user -------===//

#ifndef CLEAVE_PASSES_PLAN_CANDIDATETABLE_H
#define CLEAVE_PASSES_PLAN_CANDIDATETABLE_H

#include "passes/plan/Candidates.h"

namespace cleave {

namespace plan {
/// Writes the candidates, best first, as the module's `cleave.candidates`.
void writeCandidates(mlir::ModuleOp module,
                     llvm::ArrayRef<Candidate> candidates);
} // namespace plan

/// `cleave.candidates` as a table: a line per plan, the chosen one marked, and
/// why a plan cannot be.
std::string printCandidates(mlir::ModuleOp module);

} // namespace cleave

#endif
