//===- Environment.cpp - the variables that set up the emulator -----------===//

#include "device/Environment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace cudaemu;

[[noreturn]] static void refuse(const char *name, std::string_view value) {
  report(std::string(name) + " is '" + std::string(value) +
         "', which is not among its values");
  _exit(2);
}

static double number(const char *name, double otherwise) {
  const char *value = getenv(name);
  if (!value)
    return otherwise;
  char *end = nullptr;
  double parsed = strtod(value, &end);
  if (end == value || *end)
    refuse(name, value);
  return parsed;
}

static Checks checks() {
  const char *value = getenv("CUDAEMU_CHECK");
  if (!value || std::string_view(value) == "all")
    return {};
  Checks made{false, false, false};
  for (std::string_view rest = value; !rest.empty();) {
    std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    if (one == "streams")
      made.streams = true;
    else if (one == "races")
      made.races = true;
    else if (one == "uninitialised")
      made.uninitialised = true;
    else if (one != "none")
      refuse("CUDAEMU_CHECK", value);
  }
  return made;
}

static Environment readEnvironment() {
  Environment made;
  made.checks = checks();
  made.seed = static_cast<uint64_t>(number("CUDAEMU_SEED", 1));
  made.devices = static_cast<int>(number("CUDAEMU_DEVICES", 8));
  double capability = number("CUDAEMU_CAPABILITY", 9.0);
  made.major = static_cast<int>(capability);
  made.minor = static_cast<int>(std::lround(capability * 10) % 10);
  made.memory =
      static_cast<uint64_t>(number("CUDAEMU_MEMORY_GIB", 16) * (1ull << 30));
  unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  made.threads =
      static_cast<unsigned>(number("CUDAEMU_THREADS", std::min(2u, cores)));
  made.lateness = number("CUDAEMU_LATENESS_MS", 5) / 1000;
  made.kernelSeconds = number("CUDAEMU_KERNEL_TIMEOUT_S", 120);
  made.trace = number("CUDAEMU_TRACE", 0) != 0;
  return made;
}

const Environment &cudaemu::environment() {
  static const Environment values = readEnvironment();
  return values;
}

void cudaemu::report(const std::string &text) {
  std::string line = "cudaemu: " + text + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0)
    return;
}
