//===- MeasureRanks.cpp - measure the machines that ranks run on ----------===//
//
// The first rank of each host measures before the ranks meet, while the others
// wait for it in the start of MPI, which sleeps. Its programs run on all cores
// of the host, with as many threads a rank as a program would take here.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/MeasureRanks.h"

#include "ir/Figures.h"
#include "passes/plan/Json.h"
#include "runtime/Format.h"
#include "runtime/main/Launched.h"
#include "runtime/main/Links.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Process.h"
#include "tools/cleave/Verbs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <dlfcn.h>
#include <sched.h>
#include <set>
#include <thread>

using namespace cleave;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

//===-- What a rank tells -------------------------------------------------===//

/// The figures by the names that they travel under.
template <typename Device, typename Each>
static void forEachFigure(Device &device, Each each) {
  each("product", device.product);
  each("vector", device.vector);
  each("bandwidth", device.bandwidth);
  each("cached", device.cached);
  each("scattered", device.scattered);
  each("cache", device.cache);
  each("call", device.call);
  each("memory", device.memory);
}

static Object toJson(const DeviceFigures &device) {
  Object object;
  forEachFigure(device, [&](const char *name, const Figure &figure) {
    object[name] = Object{{"value", figure.value}, {"source", figure.source}};
  });
  return object;
}

static DeviceFigures toFigures(const Object &object) {
  DeviceFigures device;
  forEachFigure(device, [&](const char *name, Figure &figure) {
    const Object *entry = object.getObject(name);
    figure.value = entry->getNumber("value").value_or(0);
    figure.source = entry->getString("source").value_or("").str();
  });
  return device;
}

/// Cores that this process may use, by number.
static Array listCores() {
  cpu_set_t set;
  Array cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set))
        cores.push_back(core);
  return cores;
}

/// A launcher may have bound this rank: its programs stand for all ranks here.
static void useAllCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    CPU_SET(core, &set);
  (void)sched_setaffinity(0, sizeof(set), &set);
}

/// Threads of a rank, as the runtime chooses them.
static int64_t countThreads(int64_t ranks, int64_t allowed) {
  int64_t cores = std::thread::hardware_concurrency();
  return std::clamp<int64_t>(cores / ranks, 1, allowed);
}

static std::optional<Object> describeRank(const rt::Launched &launched,
                                          const MeasureStep &step) {
  Object object{{"cpu", llvm::sys::getHostCPUName()}, {"cores", listCores()}};
  if (launched.localRank != 0)
    return object;
  int64_t threads = countThreads(launched.localSize, countCores());
  useAllCores();
  std::optional<DeviceFigures> device =
      measureDevice(launched.localSize, threads, step);
  if (!device)
    return std::nullopt;
  object["device"] = toJson(*device);
  return object;
}

//===-- What rank 0 makes of it -------------------------------------------===//

namespace {
/// One host, as its ranks have told.
struct Host {
  std::string name, cpu;
  int64_t first = 0, ranks = 0, localSize = 0;
  std::set<int64_t> cores = {};
  DeviceFigures device = {};
  std::optional<MeasuredLink> link = {};

  bool isLike(const Host &other) const {
    return cpu == other.cpu && ranks == other.ranks &&
           cores.size() == other.cores.size();
  }
};
} // namespace

static std::optional<std::vector<Host>> readHosts(const Array &ranks) {
  std::vector<Host> hosts;
  for (const auto &[rank, entry] : llvm::enumerate(ranks)) {
    const Object &told = *entry.getAsObject();
    llvm::Expected<Value> text = parseJson(*told.getString("text"));
    if (!text) {
      printError("a rank has told no JSON: " +
                 llvm::toString(text.takeError()));
      return std::nullopt;
    }
    const Object &own = *text->getAsObject();
    std::string name = told.getString("host")->str();
    if (hosts.empty() || hosts.back().name != name)
      hosts.push_back({name, own.getString("cpu")->str(),
                       static_cast<int64_t>(rank), 0,
                       *told.getInteger("localSize")});
    Host &host = hosts.back();
    ++host.ranks;
    for (const Value &core : *own.getArray("cores"))
      host.cores.insert(core.getAsInteger().value_or(0));
    if (const Object *device = own.getObject("device"))
      host.device = toFigures(*device);
  }
  for (const Host &host : hosts)
    if (host.ranks != host.localSize) {
      printError("the ranks of host '" + host.name +
                 "' do not follow one another, or hosts share that name: a "
                 "cluster file has them host by host (mpirun --map-by core)");
      return std::nullopt;
    }
  return hosts;
}

/// Times of the groups that start with `first`.
static std::vector<ReductionTimes> getTimes(const Array &samples, int64_t first,
                                            bool isNetwork) {
  std::vector<ReductionTimes> times;
  for (const Value &entry : samples) {
    const Object &sample = *entry.getAsObject();
    if (sample.getInteger("first") == first &&
        sample.getBoolean("isNetwork") == isNetwork)
      times.push_back({*sample.getInteger("ranks"), *sample.getNumber("small"),
                       *sample.getNumber("large")});
  }
  return times;
}

static bool addLinks(std::vector<Host> &hosts, const Array &samples) {
  for (Host &host : hosts) {
    std::vector<ReductionTimes> times = getTimes(samples, host.first, false);
    if (times.empty())
      continue;
    host.link = makeLink("mpi", times);
    if (!host.link)
      return false;
  }
  return true;
}

/// The slower of two: a step waits for it.
static void takeSlower(DeviceFigures &device, const DeviceFigures &other) {
  Figure call = device.call.value > other.call.value ? device.call : other.call;
  std::vector<Figure> others;
  forEachFigure(other, [&](const char *, const Figure &figure) {
    others.push_back(figure);
  });
  size_t next = 0;
  forEachFigure(device, [&](const char *, Figure &figure) {
    const Figure &theirs = others[next++];
    if (theirs.value < figure.value)
      figure = theirs;
  });
  device.call = call;
}

static void takeSlower(std::optional<MeasuredLink> &link,
                       const std::optional<MeasuredLink> &other) {
  if (link && other && other->link.bandwidth < link->link.bandwidth)
    link = other;
}

/// Hosts that are alike and follow one another are one entry.
static std::vector<MeasuredNodes> groupHosts(const std::vector<Host> &hosts) {
  std::vector<MeasuredNodes> nodes;
  for (size_t i = 0; i < hosts.size(); ++i) {
    const Host &host = hosts[i];
    if (i > 0 && host.isLike(hosts[i - 1])) {
      ++nodes.back().count;
      takeSlower(nodes.back().device, host.device);
      takeSlower(nodes.back().link, host.link);
      continue;
    }
    nodes.push_back({1, host.ranks, static_cast<int64_t>(host.cores.size()),
                     host.device, host.link});
  }
  for (size_t kind = 0; nodes.size() > 1 && kind < nodes.size(); ++kind)
    if (nodes[kind].link)
      nodes[kind].link->link.name += std::to_string(kind);
  return nodes;
}

static std::optional<Measurements> combine(const std::string &text) {
  llvm::Expected<Value> value = parseJson(text);
  if (!value) {
    printError("the ranks have told no JSON: " +
               llvm::toString(value.takeError()));
    return std::nullopt;
  }
  const Object &told = *value->getAsObject();
  const Array &samples = *told.getArray("samples");
  std::optional<std::vector<Host>> hosts = readHosts(*told.getArray("ranks"));
  if (!hosts || !addLinks(*hosts, samples))
    return std::nullopt;
  Measurements result;
  result.how = "mpi";
  result.nodes = groupHosts(*hosts);
  if (hosts->size() == 1)
    return result;
  result.network =
      makeLink("network", getTimes(samples, hosts->front().first, true));
  return result.network ? std::optional(std::move(result)) : std::nullopt;
}

//===-- The ranks ---------------------------------------------------------===//

static CleaveMeasureLinksFn *loadMeasureLinks() {
  llvm::SmallString<128> path(getSelf());
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "lib", "cleave");
  llvm::sys::path::append(path, format::LibDir, format::RuntimeLib);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, "cleaveMeasureLinks") : nullptr;
  if (!symbol)
    printError(std::string("cannot load the runtime: ") + dlerror());
  return reinterpret_cast<CleaveMeasureLinksFn *>(symbol);
}

RanksMeasured cleave::measureRanks(const MeasureStep &step) {
  std::optional<rt::Launched> launched = rt::findLaunched();
  CleaveMeasureLinksFn *measureLinks = loadMeasureLinks();
  std::optional<Object> own =
      measureLinks ? describeRank(*launched, step) : std::nullopt;
  if (!own)
    return {ExitDevice, std::nullopt};
  std::string told = llvm::formatv("{0}", Value(std::move(*own))), all;
  auto take = [](void *to, const char *text) {
    *static_cast<std::string *>(to) = text;
  };
  int code = measureLinks(told.c_str(), take, &all);
  if (code != ExitDone || launched->rank != 0)
    return {code, std::nullopt};
  std::optional<Measurements> found = combine(all);
  return {found ? ExitDone : ExitDevice, std::move(found)};
}
