//===- Measure.cpp - run the probes and make figures of their times -------===//

#include "tools/cleave/Measure.h"

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
  explicit Bench(const std::function<void(const std::string &)> &step)
      : step(step) {}
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

  const std::function<void(const std::string &)> &step;
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
  usesMpi = runCommand({"mpirun", "--version"}).code == 0;
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
  step(probe.what + " on " + std::to_string(probe.ranks) +
       (probe.ranks == 1 ? " rank" : " ranks"));
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

/// Seconds of one all-reduce: what a step with them takes longer.
static std::optional<LinkSample>
measureReduction(Bench &bench, int64_t ranks, int64_t rows, int64_t columns) {
  std::optional<double> all =
      bench.timeOne(makeReductions(ranks, rows, columns));
  std::optional<double> rest =
      all ? bench.timeOne(makeReductions(1, rows, columns)) : std::nullopt;
  if (!rest)
    return std::nullopt;
  return LinkSample{static_cast<double>(sizeof(float) * rows * columns),
                    std::max(*all - *rest, 0.0)};
}

/// The mean over groups of 2, 4 ... and of all ranks.
static bool measureLink(Bench &bench, Measurements &result) {
  std::vector<int64_t> sizes;
  for (int64_t size = 2; size < result.ranks; size *= 2)
    sizes.push_back(size);
  sizes.push_back(result.ranks);
  Link mean{result.how, 0, 0};
  for (int64_t size : sizes) {
    std::optional<LinkSample> small = measureReduction(bench, size, 1, 64);
    std::optional<LinkSample> large =
        small ? measureReduction(bench, size, 256, 2048) : std::nullopt;
    if (!large)
      return false;
    std::optional<Link> link = fitLink(size, *small, *large);
    if (!link) {
      printError("an all-reduce of 2 MiB took no longer than one of 256 B: the "
                 "machine is too busy to measure");
      return false;
    }
    mean.latency += link->latency / sizes.size();
    mean.bandwidth += link->bandwidth / sizes.size();
    result.linkSource +=
        llvm::formatv("{0}{1} ranks: 256 B in {2:F1} us, 2 MiB in {3:F1} us",
                      result.linkSource.empty() ? "" : "; ", size,
                      1e6 * small->seconds, 1e6 * large->seconds);
  }
  result.link = mean;
  return true;
}

/// MemAvailable of /proc/meminfo in bytes; 0 if it is not there.
static double getAvailableMemory() {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);)
    if (llvm::StringRef(line).starts_with("MemAvailable:"))
      return std::strtod(line.c_str() + 13, nullptr) * 1024;
  return 0;
}

/// Probes of one rank's figures run on as many ranks as have a core.
static bool measureDevice(Bench &bench, Measurements &result) {
  int64_t ranks = std::min(result.ranks, result.cores);
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
  result.memory = {getAvailableMemory() / result.ranks,
                   "what was available, by the ranks"};
  bool done = set(result.product, makeProducts(ranks), true) &&
              set(result.vector, makeVectors(ranks), true) &&
              set(result.bandwidth, makeStream(ranks, 8192), true) &&
              set(result.cached, makeStream(ranks, 256), true) &&
              set(result.scattered, makeScattered(ranks), true) &&
              set(result.call, makeStarts(ranks), false);
  // So short a step is lost on a machine that is busy.
  if (done && result.cached.value < result.bandwidth.value)
    result.cached = {result.bandwidth.value,
                     "that of memory: the cache was measured as slower"};
  return done;
}

std::optional<Measurements>
cleave::measure(int64_t ranks,
                const std::function<void(const std::string &)> &step) {
  Bench bench(step);
  if (!bench.open())
    return std::nullopt;
  Measurements result;
  result.ranks = ranks;
  result.cores = countCores();
  result.how = bench.usesMpi ? "mpi" : "threads";
  if (!measureDevice(bench, result) ||
      (ranks > 1 && !measureLink(bench, result)))
    return std::nullopt;
  return result;
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

std::string cleave::printCluster(const Measurements &m) {
  std::string text;
  auto add = [&](std::string line, const std::string &source) {
    constexpr size_t kComment = 36; // column
    line.resize(std::max(line.size(), kComment), ' ');
    text += line + " # " + source + "\n";
  };
  text += llvm::formatv(
      "# Written by `cleave doctor --measure`: {0} ranks on {1} cores, started "
      "as {2}.\n# Figures are from compiled programs: the least of five "
      "medians.\n",
      m.ranks, m.cores, m.how);
  text += "name: this host\ndevices:\n  core:\n    target: cpu\n";
  add("    memory: " + printQuantity(m.memory.value) + "B", m.memory.source);
  add("    bandwidth: " + printQuantity(m.bandwidth.value) + "B/s",
      m.bandwidth.source);
  add("    cache: " + printQuantity(m.cache.value) + "B", m.cache.source);
  add("    cache_bandwidth: " + printQuantity(m.cached.value) + "B/s",
      m.cached.source);
  add("    scattered: " + printQuantity(m.scattered.value) + "B/s",
      m.scattered.source);
  add("    peak: {fp32: " + printQuantity(m.product.value) + "FLOPS}",
      m.product.source);
  add("    vector: " + printQuantity(m.vector.value) + "FLOPS",
      m.vector.source);
  add(llvm::formatv("    call: {0:F3}us", 1e6 * m.call.value), m.call.source);
  text += llvm::formatv("nodes:\n  - {{device: core, per_node: {0}, cores: "
                        "{1}{2}}\n",
                        m.ranks, std::min(m.ranks, m.cores),
                        m.link ? ", link: " + m.link->name : "");
  if (!m.link)
    return text;
  text += "links: # all-reduces; " + m.linkSource + "\n";
  text += llvm::formatv("  {0}: {{latency: {1:F3}us, bandwidth: {2}B/s}\n",
                        m.link->name, 1e6 * m.link->latency,
                        printQuantity(m.link->bandwidth));
  return text;
}
