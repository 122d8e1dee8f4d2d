//===- Checkpoint.cpp - the state of a training run in a folder -----------===//

#include "runtime/program/Checkpoint.h"

#include "runtime/Arrays.h"
#include "runtime/main/Agree.h"
#include "runtime/program/Slices.h"
#include "runtime/program/TensorFiles.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/ReplaceFolder.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::rt {

namespace {
/// The tensors of one sub-folder.
struct Part {
  const char *folder; ///< of the checkpoint
  const char *name;   ///< of the files
  StateRole role;
};
} // namespace

static constexpr Part Parts[] = {{"model", "model", StateRole::Model},
                                 {"optim", "optim", StateRole::Optimizer}};
static constexpr const char *ProgressFile = "trainer_state.json";
static constexpr const char *Prefix = "step-";

//===-- What is written where ---------------------------------------------===//

/// The whole tensors of all ranks.
static TensorPlaces listTensors(const Manifest &manifest, const Part &part) {
  TensorPlaces tensors;
  for (const ProgramInfo &program : manifest.programs)
    for (const StateInfo &state : program.state)
      if (state.role == part.role)
        tensors[state.trueName] = {state.dtype, state.trueShape, "", 0};
  placeTensors(tensors, part.name);
  return tensors;
}

/// Whether `rank` is the first that has its part of the tensor: of the first
/// program that has the tensor, at 0 along all axes that do not cut it.
static bool isWriter(const Manifest &manifest, int rank,
                     const StateInfo &state) {
  auto hasTensor = [&](const ProgramInfo &program) {
    return std::any_of(program.state.begin(), program.state.end(),
                       [&](const StateInfo &other) {
                         return other.trueName == state.trueName;
                       });
  };
  auto first = std::find_if(manifest.programs.begin(), manifest.programs.end(),
                            hasTensor);
  if (&*first != &manifest.programOf(rank))
    return false;
  for (size_t axis = 0; axis < manifest.axes.size(); ++axis) {
    bool cuts = std::any_of(
        state.split.begin(), state.split.end(), [&](const DimSplit &split) {
          return std::count(split.axes.begin(), split.axes.end(),
                            static_cast<int>(axis)) > 0;
        });
    if (!cuts && manifest.ranks[rank].coords[axis] != 0)
      return false;
  }
  return true;
}

/// Calls fn(local, offset, bytes) for each run of bytes of this rank's part:
/// their address in memory and place in the file.
template <typename Fn>
static void forEachPart(const Manifest &manifest, int rank,
                        const StateInfo &state, const TensorPlace &place,
                        void *address, Fn fn) {
  PortInfo port{0, state.shape, state.split};
  Slice slice = sliceOf(port, state.wholeShape, manifest.ranks[rank].coords,
                        manifest.axisSizes);
  int64_t bytes = dtypeBytes(state.dtype);
  forEachRun(state.wholeShape, state.shape, slice,
             [&](int64_t whole, int64_t local, int64_t count) {
               fn(static_cast<std::byte *>(address) + local * bytes,
                  place.offset + whole * bytes, count * bytes);
             });
}

//===-- Writing -----------------------------------------------------------===//

static std::string nameOf(int64_t step) {
  return fmt::format("{}{:08}", Prefix, step);
}

static void writeParts(const std::filesystem::path &side,
                       const Manifest &manifest, int rank,
                       const RankState &state) {
  const ProgramInfo &program = manifest.programOf(rank);
  for (const Part &part : Parts) {
    TensorPlaces tensors = listTensors(manifest, part);
    std::map<std::string, std::unique_ptr<PartFile>> files;
    for (size_t i = 0; i < program.state.size(); ++i) {
      const StateInfo &info = program.state[i];
      if (info.role != part.role || !isWriter(manifest, rank, info))
        continue;
      const TensorPlace &place = tensors.at(info.trueName);
      std::unique_ptr<PartFile> &file = files[place.file];
      if (!file)
        file = std::make_unique<PartFile>(side / part.folder / place.file,
                                          PartFile::Write);
      forEachPart(manifest, rank, info, place, state.addresses()[i],
                  [&](const std::byte *local, int64_t offset, int64_t bytes) {
                    file->write(local, bytes, offset);
                  });
    }
    for (auto &[name, file] : files)
      file->sync();
  }
}

static void makeFolders(const std::filesystem::path &side,
                        const Manifest &manifest) {
  std::error_code error;
  std::filesystem::remove_all(side, error); // left by a run that was killed
  for (const Part &part : Parts) {
    TensorPlaces tensors = listTensors(manifest, part);
    if (tensors.empty())
      continue;
    std::filesystem::create_directories(side / part.folder, error);
    if (error)
      fail(ExitDevice, "cannot make '{}': {}", (side / part.folder).string(),
           error.message());
    makeTensorFiles(side / part.folder, part.name, tensors);
  }
}

/// The file that a checkpoint is complete with, then its name.
static void complete(const std::filesystem::path &side,
                     const std::filesystem::path &place,
                     const Progress &progress, const Manifest &manifest) {
  nlohmann::ordered_json json = {{"step", progress.step},
                                 {"model", manifest.model}};
  if (const auto &data = progress.data)
    json["data"] = {{"seed", data->seed},
                    {"samples", data->samples},
                    {"epoch", data->epoch},
                    {"next", data->next}};
  std::string text = json.dump(2) + "\n";
  std::filesystem::path file = side / ProgressFile;
  std::ofstream(file).close();
  PartFile stream(file, PartFile::Write);
  stream.write(reinterpret_cast<const std::byte *>(text.data()),
               static_cast<int64_t>(text.size()), 0);
  stream.sync();
  for (const Part &part : Parts)
    if (std::filesystem::exists(side / part.folder))
      syncFolder(side / part.folder);
  syncFolder(side);
  // A checkpoint of the same step, of an earlier run, makes way.
  replaceFolder(side, place);
}

std::filesystem::path writeCheckpoint(const std::filesystem::path &directory,
                                      const Progress &progress,
                                      const Manifest &manifest,
                                      const RankState &state,
                                      Transport &transport) {
  std::filesystem::path place = directory / nameOf(progress.step);
  std::filesystem::path side = directory / ("." + nameOf(progress.step));
  bool isFirst = transport.rank() == 0;
  phase(transport, "starting a checkpoint", [&] {
    if (isFirst)
      makeFolders(side, manifest);
  });
  phase(transport, "writing a checkpoint",
        [&] { writeParts(side, manifest, transport.rank(), state); });
  phase(transport, "completing a checkpoint", [&] {
    if (isFirst)
      complete(side, place, progress, manifest);
  });
  return place;
}

//===-- Reading -----------------------------------------------------------===//

std::filesystem::path findCheckpoint(const std::filesystem::path &directory) {
  std::filesystem::path last;
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().starts_with(Prefix) &&
        std::filesystem::exists(entry.path() / ProgressFile) &&
        (last.empty() || entry.path().filename() > last.filename()))
      last = entry.path();
  return last;
}

static DataPosition readPosition(const nlohmann::json &json) {
  DataPosition position{json.at("seed"), json.at("samples"), json.at("epoch"),
                        json.at("next")};
  if (position.samples < 1 || position.epoch < 0 || position.next < 0 ||
      position.next > position.samples)
    fail(ExitMismatch, "place {} of epoch {} is not in data of {} samples",
         position.next, position.epoch, position.samples);
  return position;
}

static Progress readProgress(const std::filesystem::path &file) {
  std::ifstream stream(file);
  if (!stream)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(),
         std::strerror(errno));
  try {
    nlohmann::json json = nlohmann::json::parse(stream);
    Progress progress{json.at("step"), std::nullopt};
    if (auto data = json.find("data"); data != json.end())
      progress.data = readPosition(*data);
    return progress;
  } catch (const nlohmann::json::exception &error) {
    fail(ExitMismatch, "'{}': {}", file.string(), error.what());
  }
}

static const TensorPlace &findTensor(const TensorPlaces &tensors,
                                     const StateInfo &state,
                                     const std::filesystem::path &folder) {
  auto found = tensors.find(state.trueName);
  if (found == tensors.end())
    fail(ExitMismatch, "'{}' does not hold '{}'", folder.string(),
         state.trueName);
  const TensorPlace &place = found->second;
  if (place.dtype != state.dtype || place.shape != state.trueShape)
    fail(ExitMismatch, "'{}' holds '{}' as {} {}, expected {} {}",
         folder.string(), state.trueName, dtypeInfo(place.dtype).name,
         listed(place.shape), dtypeInfo(state.dtype).name,
         listed(state.trueShape));
  return place;
}

Progress readCheckpoint(const std::filesystem::path &checkpoint,
                        const Manifest &manifest, int rank, RankState &state) {
  const ProgramInfo &program = manifest.programOf(rank);
  for (const Part &part : Parts) {
    std::filesystem::path folder = checkpoint / part.folder;
    TensorPlaces tensors;
    std::map<std::string, std::unique_ptr<PartFile>> files;
    for (size_t i = 0; i < program.state.size(); ++i) {
      const StateInfo &info = program.state[i];
      if (info.role != part.role || !info.isMutable)
        continue;
      if (tensors.empty())
        tensors = readTensorPlaces(folder, part.name);
      const TensorPlace &place = findTensor(tensors, info, folder);
      std::unique_ptr<PartFile> &file = files[place.file];
      if (!file)
        file = std::make_unique<PartFile>(folder / place.file, PartFile::Read);
      forEachPart(manifest, rank, info, place, state.addresses()[i],
                  [&](std::byte *local, int64_t offset, int64_t bytes) {
                    file->read(local, bytes, offset);
                  });
    }
  }
  return readProgress(checkpoint / ProgressFile);
}

} // namespace cleave::rt
