//===- Measure.cpp - run the probes and make figures of their times -------===//

#include "tools/cleave/Measure.h"

#include "ir/Figures.h"
#include "passes/cost/CostModel.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Probes.h"
#include "tools/cleave/Process.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>
#include <sched.h>
#include <unistd.h>

using namespace cleave;

int64_t cleave::countCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return CPU_COUNT(&set);
}

namespace {

/// Compiles and runs probes in a folder of their own.
class Bench {
public:
  /// Ranks are threads of a process with `threads` threads each, or, for 0,
  /// as `cleave run` starts them.
  Bench(const MeasureStep &step, int64_t threads)
      : step(step), threads(threads) {}
  ~Bench() {
    if (!folder.empty())
      (void)llvm::sys::fs::remove_directories(folder);
  }
  Bench(const Bench &) = delete;

  bool open();
  /// Seconds of a step: the least of the medians of a few runs, for what else
  /// the machine does only lengthens them.
  std::optional<double> time(const Probe &probe);
  /// Seconds of 1/amount of a step.
  std::optional<double> timeOne(const Probe &probe);

  bool usesMpi = true;

private:
  bool compile(const Probe &probe);
  std::optional<double> run(const Probe &probe);
  std::string getPath(const char *name) const { return folder + "/" + name; }

  const MeasureStep &step;
  int64_t threads;
  std::string folder;
};

} // namespace

bool Bench::open() {
  llvm::SmallString<128> path;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("cleave-doctor", path)) {
    printError("cannot create a temporary folder: " + error.message());
    return false;
  }
  folder = path.str().str();
  usesMpi = threads == 0 && runCommand({"mpirun", "--version"}).code == 0;
  return true;
}

static bool writeText(const std::string &path, const std::string &text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  return static_cast<bool>(stream.flush());
}

/// A .npy file of zeros; most of it is a hole.
static bool writeZeros(const std::string &path, int64_t rows, int64_t columns) {
  constexpr size_t kHeader = 128;
  std::string dict = llvm::formatv(
      "{{'descr': '<f4', 'fortran_order': False, 'shape': ({0}, {1}), }", rows,
      columns);
  dict.resize(kHeader - 10, ' ');
  dict.back() = '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  int file = 0;
  if (!writeText(path, header + dict) ||
      llvm::sys::fs::openFileForWrite(path, file,
                                      llvm::sys::fs::CD_OpenExisting))
    return false;
  std::error_code error = llvm::sys::fs::resize_file(
      file, kHeader + sizeof(float) * rows * columns);
  std::error_code closed = llvm::sys::Process::SafelyCloseFileDescriptor(file);
  return !error && !closed;
}

bool Bench::compile(const Probe &probe) {
  if (!writeText(getPath("probe.mlir"), probe.module) ||
      !writeText(getPath("plan.json"), probe.plan) ||
      !writeZeros(getPath("x.npy"), probe.rows, probe.columns)) {
    printError("cannot write to '" + folder + "'");
    return false;
  }
  Finished compiled =
      runCommand({getSelf(), "compile", getPath("probe.mlir"), "-o",
                  getPath("out"), "--plan", getPath("plan.json")});
  if (compiled.code != 0)
    printError(probe.what + ": " + compiled.text);
  return compiled.code == 0;
}

std::optional<double> Bench::run(const Probe &probe) {
  std::vector<std::string> command = {
      getSelf(),  "run", getPath("out"), "--input", getPath("x.npy"),
      "--warmup", "10",  "--repeat",     "100",     "--json"};
  if (!usesMpi)
    command.push_back("--loopback");
  if (threads > 0)
    command.insert(command.end(), {"--threads", std::to_string(threads)});
  Finished finished = runCommand(command);
  for (llvm::StringRef line :
       llvm::split(llvm::StringRef(finished.text), '\n')) {
    llvm::Expected<llvm::json::Value> report = llvm::json::parse(line);
    if (!report) {
      llvm::consumeError(report.takeError());
      continue;
    }
    const llvm::json::Object *object = report->getAsObject();
    const llvm::json::Object *latency =
        object ? object->getObject("latency_ms") : nullptr;
    if (auto median = latency ? latency->getNumber("median") : std::nullopt)
      return *median * 1e-3;
  }
  printError(probe.what + ": " + finished.text);
  return std::nullopt;
}

std::optional<double> Bench::time(const Probe &probe) {
  constexpr int kRuns = 5;
  step(probe.what + " on " + formatCount(probe.ranks, "rank"));
  if (!compile(probe))
    return std::nullopt;
  std::optional<double> least;
  for (int i = 0; i < kRuns; ++i) {
    std::optional<double> seconds = run(probe);
    if (!seconds)
      return std::nullopt;
    least = std::min(least.value_or(*seconds), *seconds);
  }
  return least;
}

std::optional<double> Bench::timeOne(const Probe &probe) {
  std::optional<double> seconds = time(probe);
  return seconds ? std::optional(*seconds / probe.amount) : std::nullopt;
}

//===-- Figures -----------------------------------------------------------===//

/// Bytes of the small and the large all-reduce.
static constexpr int64_t kSmallRows = 1, kSmallColumns = 64, kLargeRows = 256,
                         kLargeColumns = 2048;

/// Seconds of one all-reduce: what a step with them takes longer.
static std::optional<double> measureReduction(Bench &bench, int64_t ranks,
                                              int64_t rows, int64_t columns) {
  std::optional<double> all =
      bench.timeOne(makeReductions(ranks, rows, columns));
  std::optional<double> rest =
      all ? bench.timeOne(makeReductions(1, rows, columns)) : std::nullopt;
  return rest ? std::optional(std::max(*all - *rest, 0.0)) : std::nullopt;
}

std::optional<MeasuredLink>
cleave::makeLink(const std::string &name,
                 const std::vector<ReductionTimes> &times) {
  constexpr double kSmall = sizeof(float) * kSmallRows * kSmallColumns,
                   kLarge = sizeof(float) * kLargeRows * kLargeColumns;
  MeasuredLink mean{{name, 0, 0}, ""};
  for (const ReductionTimes &time : times) {
    std::optional<Link> link =
        fitLink(time.ranks, {kSmall, time.small}, {kLarge, time.large});
    if (!link) {
      printError("an all-reduce of 2 MiB took no longer than one of 256 B: the "
                 "machine is too busy to measure");
      return std::nullopt;
    }
    mean.link.latency += link->latency / times.size();
    mean.link.bandwidth += link->bandwidth / times.size();
    mean.source +=
        llvm::formatv("{0}{1} ranks: 256 B in {2:F1} us, 2 MiB in {3:F1} us",
                      mean.source.empty() ? "" : "; ", time.ranks,
                      1e6 * time.small, 1e6 * time.large);
  }
  return mean;
}

/// Groups of 2, 4 ... and of all ranks.
static std::optional<MeasuredLink> measureLink(Bench &bench, int64_t ranks,
                                               const std::string &name) {
  std::vector<ReductionTimes> times;
  for (int64_t size = 2; size < ranks; size *= 2)
    times.push_back({size});
  times.push_back({ranks});
  for (ReductionTimes &time : times) {
    std::optional<double> small =
        measureReduction(bench, time.ranks, kSmallRows, kSmallColumns);
    std::optional<double> large =
        small ? measureReduction(bench, time.ranks, kLargeRows, kLargeColumns)
              : std::nullopt;
    if (!large)
      return std::nullopt;
    time.small = *small;
    time.large = *large;
  }
  return makeLink(name, times);
}

/// MemAvailable of /proc/meminfo in bytes; 0 if it is not there.
static double getAvailableMemory() {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);)
    if (llvm::StringRef(line).starts_with("MemAvailable:"))
      return std::strtod(line.c_str() + 13, nullptr) * 1024;
  return 0;
}

static std::optional<DeviceFigures> measureDevice(Bench &bench, int64_t ranks) {
  DeviceFigures result;
  int64_t running = std::min(ranks, countCores());
  auto set = [&](Figure &figure, const Probe &probe, bool isRate) {
    std::optional<double> one = bench.timeOne(probe);
    if (!one)
      return false;
    figure = {isRate ? 1 / *one : *one, probe.what};
    return true;
  };
  int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  result.cache = cache > 0 ? Figure{static_cast<double>(cache), "level 2"}
                           : Figure{1 << 20, "level 2 is not told: a guess"};
  result.memory = {getAvailableMemory() / ranks,
                   "what was available, by the ranks"};
  if (!set(result.product, makeProducts(running), true) ||
      !set(result.vector, makeVectors(running), true) ||
      !set(result.bandwidth, makeStream(running, 8192), true) ||
      !set(result.cached, makeStream(running, 256), true) ||
      !set(result.scattered, makeScattered(running), true) ||
      !set(result.call, makeStarts(running), false))
    return std::nullopt;
  // So short a step is lost on a machine that is busy.
  if (result.cached.value < result.bandwidth.value)
    result.cached = {result.bandwidth.value,
                     "that of memory: the cache was measured as slower"};
  return result;
}

std::optional<DeviceFigures>
cleave::measureDevice(int64_t ranks, int64_t threads, const MeasureStep &step) {
  Bench bench(step, threads);
  if (!bench.open())
    return std::nullopt;
  return ::measureDevice(bench, ranks);
}

std::optional<Measurements> cleave::measureHost(int64_t ranks,
                                                const MeasureStep &step) {
  Bench bench(step, 0);
  if (!bench.open())
    return std::nullopt;
  Measurements result;
  result.how = bench.usesMpi ? "mpi" : "threads";
  std::optional<DeviceFigures> device = ::measureDevice(bench, ranks);
  if (!device)
    return std::nullopt;
  MeasuredNodes &node = result.nodes.emplace_back();
  node.ranks = ranks;
  node.cores = countCores();
  node.device = *device;
  if (ranks == 1)
    return result;
  node.link = measureLink(bench, ranks, result.how);
  return node.link ? std::optional(std::move(result)) : std::nullopt;
}

//===-- File --------------------------------------------------------------===//

/// "12.3G": three digits and a unit of 1000.
static std::string printQuantity(double value) {
  for (const char *unit : {"", "K", "M", "G"}) {
    if (value < 1000)
      return llvm::formatv("{0:F3}{1}", value, unit);
    value /= 1000;
  }
  return llvm::formatv("{0:F3}T", value);
}

/// "key: value      # source"
static std::string printLine(std::string line, const std::string &source) {
  constexpr size_t kComment = 36; // column
  line.resize(std::max(line.size(), kComment), ' ');
  return line + " # " + source + "\n";
}

static std::string printDevice(const std::string &name,
                               const DeviceFigures &device) {
  std::string text = "  " + name + ":\n    target: cpu\n";
  auto add = [&](const char *key, const Figure &figure, const char *unit) {
    text += printLine("    " + std::string(key) + ": " +
                          printQuantity(figure.value) + unit,
                      figure.source);
  };
  add("memory", device.memory, "B");
  add("bandwidth", device.bandwidth, "B/s");
  add("cache", device.cache, "B");
  add("cache_bandwidth", device.cached, "B/s");
  add("scattered", device.scattered, "B/s");
  text += printLine("    peak: {fp32: " + printQuantity(device.product.value) +
                        "FLOPS}",
                    device.product.source);
  add("vector", device.vector, "FLOPS");
  text += printLine(
      llvm::formatv("    call: {0:F3}us", 1e6 * device.call.value).str(),
      device.call.source);
  return text;
}

static std::string printLink(const MeasuredLink &link) {
  return llvm::formatv("  # {0}\n  {1}: {{latency: {2:F3}us, bandwidth: "
                       "{3}B/s}\n",
                       link.source, link.link.name, 1e6 * link.link.latency,
                       printQuantity(link.link.bandwidth));
}

/// "core", or "core1" where there are several kinds.
static std::string nameDevice(const Measurements &m, size_t kind) {
  return m.nodes.size() == 1 ? "core" : "core" + std::to_string(kind);
}

static std::string printNodes(const Measurements &m, size_t kind) {
  const MeasuredNodes &nodes = m.nodes[kind];
  return llvm::formatv(
      "  - {{{0}device: {1}, per_node: {2}, cores: {3}{4}}\n",
      nodes.count > 1 ? "count: " + std::to_string(nodes.count) + ", " : "",
      nameDevice(m, kind), nodes.ranks, std::min(nodes.ranks, nodes.cores),
      nodes.link ? ", link: " + nodes.link->link.name : "");
}

std::string cleave::printCluster(const Measurements &m) {
  int64_t hosts = 0, ranks = 0;
  for (const MeasuredNodes &nodes : m.nodes) {
    hosts += nodes.count;
    ranks += nodes.count * nodes.ranks;
  }
  std::string text = llvm::formatv(
      "# Written by `cleave doctor --measure`: {0} on {1}, started as {2}.\n"
      "# Figures are from compiled programs: the least of five medians.\n",
      formatCount(ranks, "rank"),
      hosts == 1 ? formatCount(m.nodes.front().cores, "core")
                 : formatCount(hosts, "host"),
      m.how);
  text += hosts == 1 ? "name: this host\n" : "name: these hosts\n";
  text += "devices:\n";
  for (auto [kind, nodes] : llvm::enumerate(m.nodes))
    text += printDevice(nameDevice(m, kind), nodes.device);
  text += "nodes:\n";
  for (size_t kind = 0; kind < m.nodes.size(); ++kind)
    text += printNodes(m, kind);
  if (m.network)
    text += "network: " + m.network->link.name + "\n";
  std::string links;
  for (const MeasuredNodes &nodes : m.nodes)
    if (nodes.link)
      links += printLink(*nodes.link);
  if (m.network)
    links += printLink(*m.network);
  return links.empty() ? text : text + "links: # all-reduces\n" + links;
}
