//===- MutateModel.h - change a model at random, as a model ---------------===//
#ifndef CLEAVE_TEST_FUZZ_MUTATEMODEL_H
#define CLEAVE_TEST_FUZZ_MUTATEMODEL_H

#include "frontend/Onnx.h"

namespace cleave {

/// Makes one change somewhere in the model: a field is set, cleared, or an
/// element of it removed, doubled or added. Strings come from elsewhere in the
/// model, so that names refer to what is there. Equal seeds make equal changes.
void mutateModel(onnx::ModelProto &model, unsigned seed);

} // namespace cleave

#endif
