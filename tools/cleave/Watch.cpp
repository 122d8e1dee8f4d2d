//===- Watch.cpp - start a command and watch over it ----------------------===//
//
// Signals are taken one by one instead of by handlers; while none comes, mpirun
// is looked at once a second. Open MPI's may wait for a lock of its own for
// ever when a rank dies while the ranks start: no rank lives then, and it does.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Watch.h"

#include "tools/cleave/Messages.h"
#include "tools/cleave/Verbs.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cleave;
using Clock = std::chrono::steady_clock;

/// How long mpirun may take to start its first rank, to end after its last, and
/// to end when it is told to.
static constexpr std::chrono::seconds ToStart(300), ToEnd(5), ToObey(2);

static std::vector<char *> toArgv(std::vector<std::string> &arguments) {
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  return argv;
}

/// Starts `command` with the signals of before; -1 when there is no process.
static pid_t start(std::vector<std::string> &command, const sigset_t &before) {
  pid_t parent = getpid(), child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(ExitPeer);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  std::vector<char *> argv = toArgv(command);
  execvp(argv[0], argv.data());
  printError("cannot execute '" + command[0] + "': " + std::strerror(errno));
  _exit(ExitDevice);
}

/// True when a child of `parent` lives: is there and no zombie.
static bool hasLivingChild(pid_t parent) {
  std::error_code error;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc", error)) {
    std::ifstream file(entry.path() / "stat");
    std::string line;
    // "PID (NAME) STATE PARENT ...": a name may hold anything.
    if (!std::getline(file, line) || line.rfind(')') == line.npos)
      continue;
    char state = 0;
    int found = 0;
    if (std::sscanf(line.c_str() + line.rfind(')'), ") %c %d", &state,
                    &found) == 2 &&
        found == parent && state != 'Z' && state != 'X')
      return true;
  }
  return false;
}

namespace {
class Watch {
public:
  Watch(pid_t process, Started started) : process(process), started(started) {}

  /// Hands a signal to this process on. Ranks finish the step at SIGUSR1, which
  /// mpirun passes to them; a terminal's SIGINT has reached mpirun by itself.
  void passOn(const siginfo_t &signal);
  /// Ends an mpirun whose ranks are gone.
  void lookAfter();
  /// Until the next look: a rank that dies as it starts lives for 0.1 s.
  timespec pause() const {
    return hasStarted ? timespec{1, 0} : timespec{0, 100'000'000};
  }
  /// The exit code for what waitpid said.
  int finish(int status) const;

private:
  pid_t process;
  Started started;
  int request = 0;      ///< the first signal that asked for the end
  bool isStuck = false; ///< mpirun was told to end
  bool hasStarted = false;
  Clock::time_point deadline = Clock::now() + ToStart;
};
} // namespace

void Watch::passOn(const siginfo_t &signal) {
  bool fromTerminal = signal.si_signo == SIGINT && signal.si_code == SI_KERNEL;
  bool asksFirst = request == 0 && signal.si_signo != SIGINT;
  request = request ? request : signal.si_signo;
  if (!fromTerminal)
    kill(process, asksFirst ? SIGUSR1 : SIGTERM);
}

void Watch::lookAfter() {
  if (started != Started::Mpirun)
    return;
  if (!isStuck && hasLivingChild(process)) {
    hasStarted = true;
    deadline = Clock::now() + ToEnd;
  }
  if (Clock::now() < deadline)
    return;
  if (!isStuck)
    printError(hasStarted ? "all ranks have ended but mpirun has not: a rank "
                            "was lost, maybe while it started"
                          : "mpirun has started no rank within " +
                                std::to_string(ToStart.count()) + " s");
  kill(process, isStuck ? SIGKILL : SIGTERM);
  isStuck = true;
  deadline = Clock::now() + ToObey;
}

int Watch::finish(int status) const {
  if (isStuck)
    return ExitPeer;
  // A shell and mpirun give 128 + N for signal N.
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == ExitDone || code == ExitStopped)
    return code;
  if (request) {
    printError(std::string("ended by ") + strsignal(request) + " (signal " +
               std::to_string(request) + ") before the ranks were done");
    return ExitStopped;
  }
  if (code <= 128)
    return code;
  printError("a rank was ended by signal " + std::to_string(code - 128) + " (" +
             strsignal(code - 128) + ")");
  return ExitPeer;
}

int cleave::runWatched(std::vector<std::string> command, Started started) {
  sigset_t signals, before;
  sigemptyset(&signals);
  for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGHUP})
    sigaddset(&signals, number);
  sigprocmask(SIG_BLOCK, &signals, &before);
  pid_t process = start(command, before);
  if (process < 0) {
    printError(std::string("cannot start a process: ") + std::strerror(errno));
    return ExitDevice;
  }
  Watch watch(process, started);
  for (int status = 0;;) {
    siginfo_t signal = {};
    timespec pause = watch.pause();
    if (sigtimedwait(&signals, &signal, &pause) > 0 &&
        signal.si_signo != SIGCHLD)
      watch.passOn(signal);
    if (waitpid(process, &status, WNOHANG) == process)
      return watch.finish(status);
    watch.lookAfter();
  }
}
