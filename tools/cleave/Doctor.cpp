//===- Doctor.cpp - cleave doctor: what this machine has ------------------===//
//
// Checks what compiling and running need, a line each. With --measure, measures
// the machine and writes a cluster file for `cleave compile --cluster`.
//
//===----------------------------------------------------------------------===//

#include "ir/Figures.h"
#include "runtime/Format.h"
#include "runtime/main/Launched.h"
#include "tools/cleave/Files.h"
#include "tools/cleave/MeasureRanks.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Process.h"
#include "tools/cleave/Verbs.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <dlfcn.h>
#include <fstream>

using namespace cleave;

namespace {
struct DoctorFlags {
  bool measure = false;
  std::string output;
  int64_t ranks = 0; ///< 0: one a core
};

/// What a check found.
struct Finding {
  const char *what;
  bool isFine;
  std::string text;
};
} // namespace

//===-- Checks ------------------------------------------------------------===//

static Finding checkCpu() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> found;
  for (const char *name : {"avx512f", "avx2", "fma", "neon"})
    if (features.lookup(name))
      found.push_back(name);
  return {"cpu", !found.empty(),
          llvm::formatv("{0}, {1}, {2}", llvm::sys::getHostCPUName(),
                        formatCount(countCores(), "core"),
                        found.empty() ? "no vector unit that is known"
                                      : llvm::join(found, " "))};
}

static Finding checkMpirun() {
  Finished version = runCommand({"mpirun", "--version"});
  llvm::StringRef line = llvm::StringRef(version.text).split('\n').first;
  return {"mpirun", version.code == 0,
          version.code == 0
              ? line.str()
              : "not found: install an MPI, or run with --loopback"};
}

/// Libraries that lie beside the compiler must load.
static Finding checkLibrary(const char *what, const char *name) {
  llvm::SmallString<128> path(getSelf());
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "lib", "cleave");
  llvm::sys::path::append(path, format::LibDir, name);
  llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/true);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return {what, library != nullptr, library ? path.str().str() : dlerror()};
}

/// Compiles a module and runs it: code generation, linker and runtime.
static std::vector<Finding> checkPrograms() {
  llvm::SmallString<128> folder;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("cleave-doctor", folder))
    return {{"compile", false, "no temporary folder: " + error.message()}};
  std::string module = (folder + "/one.mlir").str(),
              out = (folder + "/out").str();
  std::ofstream(module)
      << "func.func @main() -> (tensor<4xi64> {cleave.name = \"y\"}) {\n"
         "  %y = cleave.iota {dim = 0 : i64} : tensor<4xi64>\n"
         "  return %y : tensor<4xi64>\n}\n";
  Finished compiled = runCommand({getSelf(), "compile", module, "-o", out});
  std::vector<Finding> findings = {{"compile", compiled.code == 0,
                                    compiled.code == 0
                                        ? "a program was compiled and linked"
                                        : compiled.text}};
  if (compiled.code == 0) {
    Finished ran = runCommand({getSelf(), "run", out});
    findings.push_back(
        {"run", ran.code == 0, ran.code == 0 ? "the program ran" : ran.text});
  }
  llvm::sys::fs::remove_directories(folder);
  return findings;
}

static int check() {
  std::vector<Finding> findings = {checkCpu(), checkMpirun(),
                                   checkLibrary("runtime", format::RuntimeLib),
                                   checkLibrary("transport", format::MpiLib)};
  llvm::append_range(findings, checkPrograms());
  bool isFine = true;
  for (const Finding &finding : findings) {
    llvm::outs() << llvm::formatv(
        "{0,-8} {1,-10} {2}\n", finding.isFine ? "ok" : "MISSING", finding.what,
        llvm::StringRef(finding.text).trim());
    isFine &= finding.isFine;
  }
  return isFine ? ExitDone : ExitDevice;
}

//===-- Measure -----------------------------------------------------------===//

/// Of ranks that a launcher has started only the first says and writes.
static int writeMeasurements(const DoctorFlags &flags) {
  std::optional<rt::Launched> launched = rt::findLaunched();
  // A shell of a batch system has variables of its own.
  if (launched && launched->size == 1 &&
      llvm::StringRef(launched->launcher) == "srun")
    launched.reset();
  if (launched && flags.ranks) {
    printError("--ranks is for ranks that doctor starts itself: here " +
               std::string(launched->launcher) + " has started " +
               formatCount(launched->size, "rank"));
    return ExitUsage;
  }
  bool isFirst = !launched || launched->rank == 0;
  if (isFirst && !verifyFilePlace(flags.output))
    return ExitUsage;
  Progress progress;
  auto step = [&](const std::string &text) {
    if (isFirst)
      progress.step(text);
  };
  RanksMeasured result;
  if (launched)
    result = measureRanks(step);
  else
    result.found = measureHost(flags.ranks ? flags.ranks : countCores(), step);
  if (result.found)
    return writeOutput(flags.output, printCluster(*result.found));
  return launched ? result.code : ExitDevice;
}

void cleave::addDoctor(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<DoctorFlags>();
  CLI::App *command = app.add_subcommand(
      "doctor", "Checks what compiling and running need, or measures this "
                "machine.");
  CLI::Option *measure = command->add_flag(
      "--measure", flags->measure, "measure this machine (takes a minute)");
  CLI::Option *output =
      command->add_option("-o", flags->output, "the cluster file to write")
          ->needs(measure);
  command
      ->add_option("--ranks", flags->ranks,
                   "ranks to measure with (default: one a core)")
      ->needs(measure)
      ->check(CLI::Range(1, 1024));
  measure->needs(output);
  command->callback([flags, &verb] {
    verb = [flags] {
      return flags->measure ? writeMeasurements(*flags) : check();
    };
  });
}
