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
#include "llvm/ADT/StringSet.h"
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

static const Program &getProgram(const RankModule &ranks, int64_t rank) {
  return ranks.programs[ranks.ranks[rank].program];
}

/// The tensors of a rank; first those after which the next is aligned, too.
static SmallVector<Tensor> listTensors(ArrayRef<RankModule> buckets,
                                       int64_t rank) {
  SmallVector<Tensor> aligned, others;
  llvm::StringSet<> names;
  for (const RankModule &ranks : buckets) {
    const Program &program = getProgram(ranks, rank);
    auto members = program.mesh.getRanks();
    int64_t position = llvm::find(members, rank) - members.begin();
    for (const ProgramState &state : program.states) {
      if (!names.insert(state.name).second)
        continue;
      Tensor tensor = getTensor(program, state, position);
      (tensor.bytes % 64 == 0 ? aligned : others).push_back(tensor);
    }
  }
  aligned.append(others);
  return aligned;
}

/// Equal for ranks with equal parts.
static std::string getShardKey(ArrayRef<RankModule> buckets, int64_t rank,
                               ArrayRef<Tensor> tensors) {
  std::string key;
  for (const RankModule &ranks : buckets)
    key += std::to_string(ranks.ranks[rank].program) + ";";
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
    header[tensor.state->name] = llvm::json::Object{
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
cleave::writeWeights(ArrayRef<RankModule> buckets, OutFolder &folder,
                     llvm::function_ref<void(StringRef)> progress) {
  if (failed(folder.addFolder(format::WeightDir)))
    return failure();
  RankWeights names(buckets.front().getWorld());
  llvm::StringMap<std::string> byKey;
  ShardSources sources;
  for (auto [rank, name] : llvm::enumerate(names)) {
    SmallVector<Tensor> tensors = listTensors(buckets, rank);
    if (tensors.empty())
      continue;
    std::string &file = byKey[getShardKey(buckets, rank, tensors)];
    if (file.empty()) {
      file = llvm::formatv("{0}/w{1}.safetensors", format::WeightDir,
                           byKey.size() - 1);
      progress(llvm::formatv("writing weights of rank {0}", rank).str());
      if (failed(writeFile(tensors, file, sources, folder)))
        return failure();
    }
    name = file;
  }
  return names;
}
