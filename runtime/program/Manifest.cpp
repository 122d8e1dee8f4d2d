//===- Manifest.cpp - read and check manifest.json ------------------------===//
//
// One reader per kind of entry; what is missing or of the wrong type is
// reported by the JSON library's own words, with the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/program/Manifest.h"

#include "runtime/Arrays.h"
#include "runtime/Format.h"
#include "runtime/support/Dtype.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::rt {

using nlohmann::json;

static CleaveDtype readDtype(const json &value) {
  std::string name = value.get<std::string>();
  const DtypeInfo *info = dtypeByName(name);
  if (!info)
    fail(ExitMismatch, "unknown element type '{}'", name);
  return info->dtype;
}

static TensorInfo readTensor(const json &value) {
  TensorInfo info{value.at("name"), readDtype(value.at("dtype")),
                  value.at("shape"), 0};
  info.owner = value.value("owner", 0);
  info.node = value.value("node", "");
  info.op = value.value("op", "");
  info.position = value.value("position", int64_t{-1});
  info.isKept = value.value("kept", false);
  return info;
}

static std::vector<DimSplit> readSplit(const json &value, size_t rank) {
  std::vector<DimSplit> list;
  for (const json &split : value.value("split", json::array()))
    list.push_back({split.value("axes", std::vector<int>()),
                    split.value("chunk", int64_t{0})});
  list.resize(rank);
  return list;
}

static PortInfo readPort(const json &value) {
  PortInfo port{value.at("index"), value.at("shape"), {}};
  port.split = readSplit(value, port.shape.size());
  return port;
}

static StateRole readRole(const std::string &name) {
  if (name == "model")
    return StateRole::Model;
  if (name == "optimizer")
    return StateRole::Optimizer;
  if (name == "setting")
    return StateRole::Setting;
  fail(ExitMismatch, "unknown role of a state '{}'", name);
}

static StateInfo readState(const json &value) {
  StateInfo info;
  info.name = value.at("name");
  info.dtype = readDtype(value.at("dtype"));
  info.shape = value.at("shape").get<std::vector<int64_t>>();
  info.isMutable = value.value("mutable", false);
  info.role = readRole(value.value("role", "model"));
  info.trueName = value.value("trueName", info.name);
  info.wholeShape = value.value("whole", info.shape);
  info.trueShape = value.value("trueShape", info.wholeShape);
  info.split = readSplit(value, info.shape.size());
  if (auto setting = value.find("setting"); setting != value.end())
    info.setting = {setting->at("kind"), setting->at("base")};
  return info;
}

template <typename T>
static std::vector<T> readList(const json &parent, const char *key,
                               T (*read)(const json &)) {
  std::vector<T> list;
  for (const json &value : parent.value(key, json::array()))
    list.push_back(read(value));
  return list;
}

static ProgramInfo readProgram(const json &value) {
  return {value.at("name"),
          value.at("file"),
          value.at("identity"),
          readList(value, "inputs", readPort),
          readList(value, "outputs", readPort),
          readList(value, "state", readState)};
}

static RankInfo readRank(const json &value) {
  return {value.at("program"), value.at("coords"), value.value("weights", "")};
}

static void verifyIndex(int64_t index, size_t count, const char *what) {
  if (index < 0 || index >= static_cast<int64_t>(count))
    fail(ExitMismatch, "{} {} is out of range, there are {}", what, index,
         count);
}

static void verifyPorts(const std::vector<PortInfo> &ports,
                        const std::vector<TensorInfo> &tensors,
                        size_t axisCount) {
  for (const PortInfo &port : ports) {
    verifyIndex(port.index, tensors.size(), "tensor");
    const TensorInfo &tensor = tensors[port.index];
    if (port.shape.size() != tensor.shape.size())
      fail(ExitMismatch, "'{}' has local shape {} and whole shape {}",
           tensor.name, listed(port.shape), listed(tensor.shape));
    for (const DimSplit &split : port.split)
      for (int axis : split.axes)
        verifyIndex(axis, axisCount, "mesh axis");
  }
}

static void verifyState(const StateInfo &state, size_t axisCount) {
  if (state.wholeShape.size() != state.shape.size() ||
      elementCount(state.wholeShape) != elementCount(state.trueShape))
    fail(ExitMismatch,
         "state '{}' has local shape {}, whole shape {} and true shape {}",
         state.name, listed(state.shape), listed(state.wholeShape),
         listed(state.trueShape));
  for (const DimSplit &split : state.split)
    for (int axis : split.axes)
      verifyIndex(axis, axisCount, "mesh axis");
}

static void verify(const Manifest &manifest) {
  if (manifest.world < 1 ||
      manifest.ranks.size() != static_cast<size_t>(manifest.world))
    fail(ExitMismatch, "world is {}, but there are {} ranks", manifest.world,
         manifest.ranks.size());
  if (manifest.axisSizes.size() != manifest.axes.size())
    fail(ExitMismatch, "there are {} mesh axes and {} axis sizes",
         manifest.axes.size(), manifest.axisSizes.size());
  for (const RankInfo &rank : manifest.ranks) {
    verifyIndex(rank.program, manifest.programs.size(), "program");
    if (rank.coords.size() != manifest.axes.size())
      fail(ExitMismatch, "a rank has {} coordinates for {} mesh axes",
           rank.coords.size(), manifest.axes.size());
  }
  for (const ProgramInfo &program : manifest.programs) {
    verifyPorts(program.inputs, manifest.inputs, manifest.axes.size());
    verifyPorts(program.outputs, manifest.outputs, manifest.axes.size());
    for (const StateInfo &state : program.state)
      verifyState(state, manifest.axes.size());
  }
  for (const TensorInfo &output : manifest.outputs)
    verifyIndex(output.owner, manifest.ranks.size(), "owner rank");
  for (const auto &group : manifest.groups)
    for (const auto &members : group)
      for (int rank : members)
        verifyIndex(rank, manifest.ranks.size(), "rank");
  for (const auto &route : manifest.routes)
    for (auto [from, to] : route) {
      verifyIndex(from, manifest.ranks.size(), "rank");
      verifyIndex(to, manifest.ranks.size(), "rank");
    }
  for (const auto &[from, to, tag] : manifest.channels) {
    verifyIndex(from, manifest.ranks.size(), "rank");
    verifyIndex(to, manifest.ranks.size(), "rank");
  }
}

static Manifest parseBucket(const json &root) {
  Manifest manifest;
  manifest.build = root.value("build", "");
  manifest.plan = root.value("plan", "");
  manifest.model = root.value("model", "");
  manifest.world = root.at("world");
  manifest.axes = root.value("axes", std::vector<std::string>());
  manifest.axisSizes = root.value("axisSizes", std::vector<int64_t>());
  manifest.programs = readList(root, "programs", readProgram);
  manifest.ranks = readList(root, "ranks", readRank);
  manifest.groups = root.value("groups", GroupTable());
  manifest.routes = root.value("routes", RouteTable());
  manifest.channels = root.value("channels", ChannelTable());
  manifest.inputs = readList(root, "inputs", readTensor);
  manifest.outputs = readList(root, "outputs", readTensor);
  verify(manifest);
  return manifest;
}

static Buckets parse(json root) {
  int version = root.at("format");
  if (version != format::Version)
    fail(ExitMismatch, "has format {}, this runtime knows {}", version,
         format::Version);
  Buckets buckets{parseBucket(root)};
  for (const json &other : root.value("buckets", json::array())) {
    root.update(other);
    buckets.push_back(parseBucket(root));
  }
  return buckets;
}

Buckets readManifest(const std::filesystem::path &directory) {
  std::filesystem::path file = directory / format::ManifestFile;
  std::ifstream stream(file);
  if (!stream)
    fail(ExitMismatch, "cannot open '{}': is '{}' a folder made by cleave?",
         file.string(), directory.string());
  try {
    Buckets buckets = parse(json::parse(stream));
    for (Manifest &manifest : buckets)
      manifest.directory = directory;
    return buckets;
  } catch (const Failure &failure) {
    fail(failure.code, "'{}': {}", file.string(), failure.what());
  } catch (const json::exception &error) {
    fail(ExitMismatch, "'{}': {}", file.string(), error.what());
  }
}

} // namespace cleave::rt
