//===- ClusterFile.cpp - reads a cluster from YAML ------------------------===//
//
// The format is in docs (Cluster). Unknown keys, units that do not fit, links
// and devices that are named but not described are errors at their line and
// column. yaml-cpp throws: this file is compiled with exceptions, and none
// leaves it.
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Cluster.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

#include <yaml-cpp/yaml.h>

using namespace cleave;
using namespace mlir;

namespace {

/// A fault of the text, on its way to a diagnostic.
struct Fault {
  YAML::Mark mark;
  std::string message;
};

enum class Unit { Bytes, BytesPerSecond, Flops, Seconds };

class Reader {
public:
  explicit Reader(const YAML::Node &root) : root(root) {}
  Cluster read();

private:
  void readDevices(const YAML::Node &node);
  void readLinks(const YAML::Node &node);
  void readNodes(const YAML::Node &node);
  NodeGroup readGroup(const YAML::Node &entry);
  size_t findDevice(const YAML::Node &name) const;
  size_t findLink(const YAML::Node &name) const;

  const YAML::Node &root;
  Cluster cluster;
};

} // namespace

[[noreturn]] static void fail(const YAML::Node &node,
                              const llvm::Twine &message) {
  throw Fault{node.Mark(), message.str()};
}

static std::string quote(llvm::StringRef text) {
  return ("'" + text + "'").str();
}

/// Checks that `node` is a map with no key but these.
static void verifyKeys(const YAML::Node &node, llvm::StringRef what,
                       llvm::ArrayRef<llvm::StringRef> known) {
  if (!node.IsMap())
    fail(node, what + " must be a map");
  for (const auto &entry : node)
    if (!llvm::is_contained(known, llvm::StringRef(entry.first.Scalar())))
      fail(entry.first, "unknown key " + quote(entry.first.Scalar()) + " of " +
                            what + ", expected one of " +
                            llvm::join(known, ", "));
}

static YAML::Node require(const YAML::Node &node, llvm::StringRef what,
                          const char *key) {
  YAML::Node value = node[key];
  if (!value)
    fail(node, what + " has no key " + quote(key));
  return value;
}

/// Factor of a unit, or 0: "GB/s" is 1e9 for BytesPerSecond and nothing else.
static double getFactor(llvm::StringRef text, Unit unit) {
  if (unit == Unit::Seconds)
    return llvm::StringSwitch<double>(text)
        .Case("ns", 1e-9)
        .Case("us", 1e-6)
        .Case("ms", 1e-3)
        .Case("s", 1)
        .Default(0);
  if (unit == Unit::BytesPerSecond && !text.consume_back("/s"))
    return 0;
  if (!text.consume_back(unit == Unit::Flops ? "FLOPS" : "B"))
    return 0;
  double step = text.consume_back("i") && unit != Unit::Flops ? 1024 : 1000;
  if (text.empty())
    return step == 1000 ? 1 : 0;
  size_t power = llvm::StringRef("KMGTP").find(text);
  if (text.size() != 1 || power == llvm::StringRef::npos)
    return 0;
  double factor = step;
  for (size_t i = 0; i < power; ++i)
    factor *= step;
  return factor;
}

static llvm::StringRef getExample(Unit unit) {
  switch (unit) {
  case Unit::Bytes:
    return "bytes, as 80GiB";
  case Unit::BytesPerSecond:
    return "bytes a second, as 50GB/s";
  case Unit::Flops:
    return "operations a second, as 67TFLOPS";
  case Unit::Seconds:
    return "a time, as 3us";
  }
  llvm_unreachable("unknown unit");
}

/// "3.35TB/s" -> 3.35e12; must be positive.
static double readQuantity(const YAML::Node &node, llvm::StringRef key,
                           Unit unit) {
  llvm::StringRef text = node.IsScalar() ? llvm::StringRef(node.Scalar()) : "";
  llvm::StringRef number =
      text.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
  double value = 0;
  double factor = getFactor(text.drop_front(number.size()).trim(), unit);
  if (number.getAsDouble(value) || factor == 0 || !(value > 0))
    fail(node, quote(key) + " must be " + getExample(unit) + ", found " +
                   quote(text));
  return value * factor;
}

static int64_t readCount(const YAML::Node &node, llvm::StringRef key) {
  int64_t value = 0;
  llvm::StringRef text = node.IsScalar() ? llvm::StringRef(node.Scalar()) : "";
  if (text.getAsInteger(10, value) || value < 1)
    fail(node,
         quote(key) + " must be a positive integer, found " + quote(text));
  return value;
}

void Reader::readDevices(const YAML::Node &node) {
  if (!node.IsMap() || node.size() == 0)
    fail(node, "'devices' must be a map with at least one device");
  for (const auto &entry : node) {
    Device device;
    device.name = entry.first.Scalar();
    std::string what = "device " + quote(device.name);
    const YAML::Node &body = entry.second;
    verifyKeys(body, what,
               {"target", "arch", "memory", "bandwidth", "cache",
                "cache_bandwidth", "scattered", "peak", "vector", "call"});
    YAML::Node target = require(body, what, "target");
    device.target = target.Scalar();
    if (device.target != "cpu" && device.target != "cuda")
      fail(target,
           "'target' must be cpu or cuda, found " + quote(device.target));
    if (body["arch"])
      device.arch = body["arch"].Scalar();
    device.memory =
        readQuantity(require(body, what, "memory"), "memory", Unit::Bytes);
    device.bandwidth = readQuantity(require(body, what, "bandwidth"),
                                    "bandwidth", Unit::BytesPerSecond);
    YAML::Node peak = require(body, what, "peak");
    verifyKeys(peak, "'peak'",
               {"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8"});
    require(peak, "'peak'", "fp32");
    for (const auto &figure : peak)
      device.peak[figure.first.Scalar()] =
          readQuantity(figure.second, figure.first.Scalar(), Unit::Flops);
    if (body["cache"]) {
      device.cache = readQuantity(body["cache"], "cache", Unit::Bytes);
      device.cacheBandwidth =
          readQuantity(require(body, what, "cache_bandwidth"),
                       "cache_bandwidth", Unit::BytesPerSecond);
    }
    if (body["scattered"])
      device.scattered =
          readQuantity(body["scattered"], "scattered", Unit::BytesPerSecond);
    if (body["vector"])
      device.vector = readQuantity(body["vector"], "vector", Unit::Flops);
    if (body["call"])
      device.call = readQuantity(body["call"], "call", Unit::Seconds);
    cluster.devices.push_back(std::move(device));
  }
}

void Reader::readLinks(const YAML::Node &node) {
  if (!node.IsMap())
    fail(node, "'links' must be a map");
  for (const auto &entry : node) {
    std::string what = "link " + quote(entry.first.Scalar());
    verifyKeys(entry.second, what, {"latency", "bandwidth"});
    Link link;
    link.name = entry.first.Scalar();
    link.latency = readQuantity(require(entry.second, what, "latency"),
                                "latency", Unit::Seconds);
    link.bandwidth = readQuantity(require(entry.second, what, "bandwidth"),
                                  "bandwidth", Unit::BytesPerSecond);
    cluster.links.push_back(std::move(link));
  }
}

size_t Reader::findDevice(const YAML::Node &name) const {
  for (size_t i = 0; i < cluster.devices.size(); ++i)
    if (cluster.devices[i].name == name.Scalar())
      return i;
  fail(name, "device " + quote(name.Scalar()) + " is not in 'devices'");
}

size_t Reader::findLink(const YAML::Node &name) const {
  for (size_t i = 0; i < cluster.links.size(); ++i)
    if (cluster.links[i].name == name.Scalar())
      return i;
  fail(name, "link " + quote(name.Scalar()) + " is not in 'links'");
}

NodeGroup Reader::readGroup(const YAML::Node &entry) {
  verifyKeys(entry, "a node",
             {"count", "device", "per_node", "cores", "link", "nics",
              "host_memory", "host_link"});
  NodeGroup group;
  group.device = findDevice(require(entry, "a node", "device"));
  if (entry["count"])
    group.count = readCount(entry["count"], "count");
  if (entry["per_node"])
    group.perNode = readCount(entry["per_node"], "per_node");
  if (entry["link"])
    group.link = findLink(entry["link"]);
  else if (group.perNode > 1)
    fail(entry,
         "a node of " + llvm::Twine(group.perNode) + " devices needs 'link'");
  if (entry["cores"])
    group.cores = readCount(entry["cores"], "cores");
  if (entry["nics"])
    group.nics = readCount(entry["nics"], "nics");
  if (entry["host_memory"])
    group.hostMemory =
        readQuantity(entry["host_memory"], "host_memory", Unit::Bytes);
  if (entry["host_link"])
    group.hostLink = findLink(entry["host_link"]);
  return group;
}

void Reader::readNodes(const YAML::Node &node) {
  if (!node.IsSequence() || node.size() == 0)
    fail(node, "'nodes' must be a list with at least one entry");
  int64_t count = 0;
  for (const auto &entry : node) {
    cluster.nodes.push_back(readGroup(entry));
    count += cluster.nodes.back().count;
  }
  if (count > 1)
    cluster.network =
        findLink(require(root, "a cluster of several nodes", "network"));
  else if (root["network"])
    cluster.network = findLink(root["network"]);
}

Cluster Reader::read() {
  verifyKeys(root, "a cluster",
             {"name", "devices", "nodes", "network", "links"});
  if (root["name"])
    cluster.name = root["name"].Scalar();
  readDevices(require(root, "a cluster", "devices"));
  if (root["links"])
    readLinks(root["links"]);
  // One device a node and no link: nothing is ever sent within a node.
  readNodes(require(root, "a cluster", "nodes"));
  return cluster;
}

FailureOr<Cluster> cleave::readCluster(MLIRContext *context,
                                       llvm::StringRef path) {
  auto report = [&](YAML::Mark mark,
                    const std::string &message) -> FailureOr<Cluster> {
    bool known = !mark.is_null();
    emitError(FileLineColLoc::get(context, path, known ? mark.line + 1 : 1,
                                  known ? mark.column + 1 : 1))
        << message;
    return failure();
  };
  try {
    YAML::Node root = YAML::LoadFile(path.str());
    return Reader(root).read();
  } catch (const Fault &fault) {
    return report(fault.mark, fault.message);
  } catch (const YAML::BadFile &) {
    return report(YAML::Mark::null_mark(), "cannot read the cluster file");
  } catch (const YAML::Exception &error) {
    return report(error.mark, "not valid YAML: " + error.msg);
  }
}
