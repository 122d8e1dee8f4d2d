//===- Weights.cpp - write each rank's part of the parameters -------------===//
//
// Ranks whose parts are equal (replicas) share a file. The header is padded to
// a multiple of 64 bytes and tensors of such a size come first, so that the
// runtime can use those in place. Memory is bounded by the buffers of the
// streams.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Weights.h"

#include "codegen/Dtypes.h"
#include "codegen/output/Shard.h"
#include "runtime/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace cleave;
using namespace mlir;

namespace {
/// A tensor of a weights file.
struct Tensor {
  const ProgramState *state;
  SmallVector<DimRange> ranges;
  int64_t bytes;
};
} // namespace

static Tensor getTensor(const Program &program, const ProgramState &state,
                        int64_t position) {
  ParamOp param = state.param;
  auto whole = cast<RankedTensorType>(param.getType());
  return {&state,
          getShardRange(whole.getShape(), param.getShardingAttr(), program.mesh,
                        position),
          getByteSize(state.localType)};
}

/// The tensors of a rank; first those after which the next is aligned, too.
static SmallVector<Tensor> listTensors(const Program &program,
                                       int64_t position) {
  SmallVector<Tensor> aligned, others;
  for (const ProgramState &state : program.states) {
    Tensor tensor = getTensor(program, state, position);
    (tensor.bytes % 64 == 0 ? aligned : others).push_back(tensor);
  }
  aligned.append(others);
  return aligned;
}

/// Equal for ranks with equal parts.
static std::string getShardKey(int64_t program, ArrayRef<Tensor> tensors) {
  std::string key = std::to_string(program);
  for (const Tensor &tensor : tensors)
    for (DimRange range : tensor.ranges)
      key += "," + std::to_string(range.start);
  return key;
}

static FailureOr<std::string> buildHeader(ArrayRef<Tensor> tensors) {
  llvm::json::Object header;
  int64_t offset = 0;
  for (const Tensor &tensor : tensors) {
    RankedTensorType type = tensor.state->localType;
    ParamOp param = tensor.state->param;
    FailureOr<CleaveDtype> dtype = getDtype(param, type.getElementType());
    if (failed(dtype))
      return failure();
    header[param.getSymName()] = llvm::json::Object{
        {"dtype", getSafetensorsName(*dtype)},
        {"shape", llvm::json::Array(type.getShape())},
        {"data_offsets", llvm::json::Array{offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  std::string text = llvm::formatv("{0}", llvm::json::Value(std::move(header)));
  text.append(llvm::offsetToAlignment(8 + text.size(), llvm::Align(64)), ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + text;
}

static LogicalResult writeFile(ArrayRef<Tensor> tensors, StringRef name,
                               ShardSources &sources, OutFolder &folder) {
  FailureOr<std::string> header = buildHeader(tensors);
  if (failed(header))
    return failure();
  DigestStream stream(folder.getPath(name));
  stream << *header;
  for (const Tensor &tensor : tensors)
    if (failed(writeShard(tensor.state->param, tensor.state->localType,
                          tensor.ranges, sources, stream)))
      return failure();
  std::string digest;
  if (std::error_code error = stream.finish(digest))
    return folder.emitError() << "cannot write '" << folder.getPath(name)
                              << "': " << error.message();
  return folder.note(name, digest);
}

FailureOr<RankWeights>
cleave::writeWeights(const RankModule &ranks, OutFolder &folder,
                     llvm::function_ref<void(StringRef)> progress) {
  if (failed(folder.addFolder(format::WeightDir)))
    return failure();
  RankWeights names(ranks.getWorld());
  llvm::StringMap<std::string> byKey;
  ShardSources sources;
  for (auto [number, program] : llvm::enumerate(ranks.programs)) {
    for (auto [position, rank] : llvm::enumerate(program.mesh.getRanks())) {
      SmallVector<Tensor> tensors = listTensors(program, position);
      if (tensors.empty())
        continue;
      std::string &name = byKey[getShardKey(number, tensors)];
      if (name.empty()) {
        name = llvm::formatv("{0}/w{1}.safetensors", format::WeightDir,
                             byKey.size() - 1);
        progress(llvm::formatv("writing weights of rank {0}", rank).str());
        if (failed(writeFile(tensors, name, sources, folder)))
          return failure();
      }
      names[rank] = name;
    }
  }
  return names;
}
