//===- TensorFiles.h - tables of .safetensors files -----------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_TENSORFILES_H
#define CLEAVE_TOOLS_CLEAVE_TENSORFILES_H

#include "frontend/TrainedModel.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace cleave {

/// The JSON header of a .safetensors file; says what is wrong and returns none
/// otherwise.
std::optional<llvm::json::Object> readTensorHeader(const std::string &path);

/// The tensors of a checkpoint's weights in order of names: those that
/// `folder`/model.safetensors.index.json names, or of a lone model.safetensors.
/// Says what is wrong and returns none otherwise.
std::optional<std::vector<StoredTensor>>
readStoredTensors(const std::string &folder);

} // namespace cleave

#endif
