//===- Manifest.h - what manifest.json says -------------------------------===//
//
// The layout is described in Format.h. Reading checks it completely, so that
// later code may index without fear.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_PROGRAM_MANIFEST_H
#define CLEAVE_RUNTIME_PROGRAM_MANIFEST_H

#include "runtime/Abi.h"
#include "runtime/Context.h"
#include "runtime/transport/Transport.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cleave::rt {

/// A whole tensor of the user's view.
struct TensorInfo {
  std::string name;
  CleaveDtype dtype = CLEAVE_F32;
  std::vector<int64_t> shape;
  int owner = 0; ///< of outputs: the rank that holds it when it isn't split
  /// Of outputs: the model's node that makes it, if one does; and how many
  /// nodes that compute something are before that one.
  std::string node = {}, op = {};
  int64_t position = -1;
  bool isKept = false; ///< an output by request, not the model's own
};

/// How a dim is cut: axes outer first, and items a part.
struct DimSplit {
  std::vector<int> axes;
  int64_t chunk = 0;
};

/// A rank's part of an input or output.
struct PortInfo {
  int index = 0; ///< into Manifest::inputs or outputs
  std::vector<int64_t> shape;
  std::vector<DimSplit> split; ///< one for each dim
};

/// What a state is to the user.
enum class StateRole { Model, Optimizer, Setting };
/// A scalar that a run sets before each step.
struct SettingInfo {
  std::string kind;
  double base = 0;
};

struct StateInfo {
  std::string name;
  CleaveDtype dtype = CLEAVE_F32;
  std::vector<int64_t> shape;
  bool isMutable = false;
  StateRole role = StateRole::Model;
  std::string trueName; ///< the user's; stages may each have a state of it
  /// The whole tensor as programs see it, and as the user knows it: the same
  /// elements in the same order.
  std::vector<int64_t> wholeShape, trueShape;
  std::vector<DimSplit> split; ///< one for each dim
  std::optional<SettingInfo> setting;
};

struct ProgramInfo {
  std::string name, file, identity;
  std::vector<PortInfo> inputs, outputs;
  std::vector<StateInfo> state;
};

struct RankInfo {
  int program = 0;
  std::vector<int64_t> coords;
  std::string weights; ///< empty when the rank has no state
};

struct Manifest {
  std::filesystem::path directory;
  std::string build, plan, model;
  int world = 1;
  std::vector<std::string> axes;
  std::vector<int64_t> axisSizes;
  std::vector<ProgramInfo> programs;
  std::vector<RankInfo> ranks;
  GroupTable groups;
  RouteTable routes;
  ChannelTable channels;
  std::vector<TensorInfo> inputs, outputs;

  const ProgramInfo &programOf(int rank) const {
    return programs[ranks[rank].program];
  }
};

/// The same model for inputs of several sizes. Axes, groups, routes, channels
/// and each rank's weights are those of all buckets.
using Buckets = std::vector<Manifest>;

/// Reads DIRECTORY/manifest.json; there is at least one bucket. Throws Failure
/// (ExitMismatch).
Buckets readManifest(const std::filesystem::path &directory);

} // namespace cleave::rt

#endif
