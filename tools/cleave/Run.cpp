//===- Run.cpp - cleave run: start the ranks of OUT on this host ----------===//
//
// One rank is started directly, several by mpirun, which merges their output;
// Watch.h watches over them. With --loopback all ranks are threads of this
// process, on the runtime in OUT/lib.
//
//===----------------------------------------------------------------------===//

#include "runtime/Format.h"
#include "tools/cleave/Manifest.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"
#include "tools/cleave/Watch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdio>
#include <dlfcn.h>
#include <memory>
#include <unistd.h>

using namespace cleave;

/// With a sanitizer, ranks are always threads of this process: their
/// executables are linked by our own linker, which knows none.
#if __has_feature(address_sanitizer)
static constexpr bool KnowsProcesses = false;
#else
static constexpr bool KnowsProcesses = true;
#endif

namespace {
struct RunFlags {
  std::string out;
  bool loopback = false;
  std::vector<std::string> rest; ///< for the ranks
};
} // namespace

static int runLoopback(const RunFlags &flags) {
  std::string file =
      flags.out + "/" + format::LibDir + "/" + format::RuntimeLib;
  void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Main = int (*)(const char *, int, char **);
  auto main = library
                  ? reinterpret_cast<Main>(dlsym(library, "cleaveLoopbackMain"))
                  : nullptr;
  if (!main) {
    printError(std::string("cannot load the runtime of '") + flags.out +
               "': " + dlerror());
    return ExitMismatch;
  }
  std::vector<std::string> arguments{"cleave run"};
  arguments.insert(arguments.end(), flags.rest.begin(), flags.rest.end());
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  return main(flags.out.c_str(), static_cast<int>(arguments.size()),
              argv.data());
}

/// mpirun stands between the ranks and the terminal, which they cannot see
/// then.
static bool needsBar(const RunFlags &flags) {
  return isatty(STDERR_FILENO) &&
         llvm::none_of(flags.rest, [](llvm::StringRef flag) {
           return flag.starts_with("--progress");
         });
}

static std::vector<std::string> getCommand(const RunFlags &flags,
                                           int64_t world) {
  std::vector<std::string> command;
  if (world > 1) {
    command = {
        "mpirun", "--quiet",        "-n", std::to_string(world), "--bind-to",
        "none",   "--oversubscribe"};
    if (geteuid() == 0)
      command.push_back("--allow-run-as-root");
  }
  command.push_back(flags.out + "/" + format::Launcher);
  command.insert(command.end(), flags.rest.begin(), flags.rest.end());
  if (world > 1 && needsBar(flags))
    command.insert(command.end(), {"--progress", "bar"});
  return command;
}

static int run(const RunFlags &flags) {
  std::optional<llvm::json::Object> manifest = readManifest(flags.out);
  if (!manifest || failed(verifyFiles(flags.out, *manifest)))
    return ExitMismatch;
  if (flags.loopback || !KnowsProcesses)
    return runLoopback(flags);
  int64_t world = manifest->getInteger("world").value_or(1);
  std::vector<std::string> command = getCommand(flags, world);
  // Ranks read no input, and mpirun would take that of a calling script.
  if (std::freopen("/dev/null", "r", stdin) == nullptr)
    printError("cannot open /dev/null");
  return runWatched(std::move(command),
                    world > 1 ? Started::Mpirun : Started::Rank);
}

void cleave::addRun(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App *command =
      app.add_subcommand("run", "Runs a compiled model on this host.");
  command->add_option("out", flags->out, "the folder that compile wrote")
      ->required();
  command->add_flag("--loopback", flags->loopback, "all ranks in this process");
  command->allow_extras();
  command->footer("All other flags go to the ranks: --input [NAME=]FILE, "
                  "--output FILE, --warmup W, --repeat R, --json, --threads T, "
                  "--trace DIR, --compare FILE, --tolerance T, --timeout S, "
                  "--start-timeout S, --log-level L; of training: --data "
                  "[NAME=]FILE, --epochs N, --steps N, --seed S, "
                  "--checkpoint DIR, --checkpoint-every K, --resume, --lr R, "
                  "--lr-schedule S, --lr-warmup N, --clip X, --weight-decay W, "
                  "--log FILE, --progress P. OUT/launch --help says what they "
                  "do.");
  command->callback([command, flags, &verb] {
    flags->rest = command->remaining();
    verb = [flags] { return run(*flags); };
  });
}
