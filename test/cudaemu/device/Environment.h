//===- Environment.h - the variables that set up the emulator -------------===//
#pragma once

#include <cstdint>
#include <string>

namespace cudaemu {

struct Checks {
  bool streams = true, races = true, uninitialised = true;
};

/// Read once, from the variables that README.md lists.
struct Environment {
  Checks checks;
  uint64_t seed = 1;
  int devices = 8;
  int major = 9, minor = 0;
  uint64_t memory = 16ull << 30;
  unsigned threads = 2;
  double lateness = 0.005; ///< Seconds until work runs that nobody waits for.
  double kernelSeconds = 120; ///< Until a kernel is given up.
  bool trace = false;         ///< A line for each item of work.
};
const Environment &environment();

/// Prints `cudaemu: text` to stderr, in one piece.
void report(const std::string &text);

} // namespace cudaemu
