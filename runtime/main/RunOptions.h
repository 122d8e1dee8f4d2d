//===- RunOptions.h - the command line of a rank --------------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_RUNOPTIONS_H
#define CLEAVE_RUNTIME_MAIN_RUNOPTIONS_H

#include "runtime/transport/Transport.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cleave::rt {

/// An input file, with the name of the input where the user gave one.
struct InputFile {
  std::string name;
  std::filesystem::path file;
};

/// Of a program that trains; what is not given is as it was compiled.
struct TrainOptions {
  std::optional<double> rate, clip, decay;
  std::string schedule = "constant"; ///< constant, linear or cosine
  int64_t warmup = 0;                ///< steps in which the rate rises
};

struct RunOptions {
  std::filesystem::path directory;
  std::vector<InputFile> inputs;
  std::vector<InputFile> data;   ///< samples of all steps; none: --input alone
  std::filesystem::path output;  ///< empty: outputs are not written
  std::filesystem::path compare; ///< expected outputs; empty: none
  double tolerance = 1e-4;       ///< of Difference::relative
  int warmup = 0;
  int repeat = 1;
  int64_t epochs = 0;           ///< of the data, instead of `repeat`; 0: none
  std::optional<uint64_t> seed; ///< of the order of the data
  bool report = false;          ///< print latency and memory
  bool json = false;
  int threads = 0; ///< 0: this rank's share of the cores
  Deadlines deadlines;
  std::filesystem::path trace;      ///< empty: none
  std::filesystem::path checkpoint; ///< folder of checkpoints; empty: none
  int64_t checkpointEvery = 0;      ///< steps; 0: at the end alone
  bool resume = false;              ///< start from the last checkpoint
  TrainOptions train;
  std::filesystem::path log; ///< a line of JSON a step; empty: none
  /// How a run that trains shows how far it is: auto, bar, lines or none.
  std::string progress = "auto";
  std::string logLevel;
  bool graph = true; ///< of a device: replay a captured step
  bool tf32 = false; ///< of a device: products of f32 in tf32
};

/// Parses the command line; `directory` is the default of --directory. Returns
/// none when only help was wanted. Throws Failure (ExitUsage).
std::optional<RunOptions>
parseRunOptions(int argc, char **argv, const std::filesystem::path &directory);

} // namespace cleave::rt

#endif
