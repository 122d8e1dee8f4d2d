//===- RunOptions.cpp - the command line of a rank ------------------------===//
//
// Flags win over the environment: --log-level over CLEAVE_LOG.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RunOptions.h"

#include "runtime/Arrays.h"
#include "runtime/support/Log.h"

#include <CLI/CLI.hpp>

#include <limits>

namespace cleave::rt {

static constexpr int MostRuns = std::numeric_limits<int>::max();
static constexpr int MostThreads = 1024;

/// "NAME=FILE" or "FILE". A '=' after a '/' belongs to the file.
static InputFile parseInput(const std::string &text) {
  size_t equals = text.find('='), slash = text.find('/');
  if (equals == text.npos || slash < equals)
    return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Accepts whole numbers from `least` to `most`.
static CLI::Validator inWholeRange(int least, int most) {
  auto verify = [=](const std::string &text) -> std::string {
    int value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= least &&
        value <= most)
      return "";
    return fmt::format("expected a whole number from {} to {}, found '{}'",
                       least, most, text);
  };
  return CLI::Validator(verify, "N");
}

/// Accepts seconds that a clock can count.
static CLI::Validator isDeadline() {
  auto verify = [](const std::string &text) -> std::string {
    constexpr double Most = 1e6;
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value > 0 && value <= Most)
      return "";
    return fmt::format("expected seconds above 0, at most {}, found '{}'", Most,
                       text);
  };
  return CLI::Validator(verify, "SECONDS");
}

/// Accepts numbers, 0 or above.
static CLI::Validator isNumber() {
  auto verify = [](const std::string &text) -> std::string {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= 0)
      return "";
    return fmt::format("expected a number, 0 or above, found '{}'", text);
  };
  return CLI::Validator(verify, "X");
}

/// The samples and how often steps take them; `steps` says how many steps.
static void addDataFlags(CLI::App &app, RunOptions &options,
                         std::vector<std::string> &files, CLI::Option *steps) {
  auto *data =
      app.add_option("--data", files,
                     "[NAME=]FILE of samples, along the batch dim of each "
                     "input: each step takes the next batch, in an order that "
                     "--seed shuffles. Mapped: .npy, .npz that is not "
                     "compressed, .safetensors")
          ->take_all();
  app.add_option("--epochs", options.epochs,
                 "how often to go through the data (default: once, or as "
                 "--steps says)")
      ->check(inWholeRange(1, MostRuns))
      ->needs(data)
      ->excludes(steps);
  app.add_option("--seed", options.seed, "of the order of samples (default: 0)")
      ->needs(data);
}

static void addTrainFlags(CLI::App &app, RunOptions &options) {
  app.add_option("--lr", options.train.rate, "learning rate")
      ->check(isNumber());
  app.add_option("--lr-schedule", options.train.schedule,
                 "constant (default), linear or cosine: falls to 0 over the "
                 "steps of this run")
      ->check(CLI::IsMember({"constant", "linear", "cosine"}));
  app.add_option("--lr-warmup", options.train.warmup,
                 "steps over which the learning rate rises at first")
      ->check(inWholeRange(0, MostRuns));
  app.add_option("--clip", options.train.clip,
                 "largest norm of all gradients together")
      ->check(isNumber());
  app.add_option("--weight-decay", options.train.decay, "weight decay")
      ->check(isNumber());
  app.add_option(
      "--log", options.log,
      "file for a line of JSON a step: step, scalar outputs, lr, ms, samples "
      "a second, memory");
  app.add_option("--progress", options.progress,
                 "of a run that trains: bar, lines, none, or auto (default): "
                 "bar on a terminal, else lines")
      ->check(CLI::IsMember({"auto", "bar", "lines", "none"}));
}

static void applyLogLevel(const RunOptions &options) {
  const char *variable = std::getenv("CLEAVE_LOG");
  if (!options.logLevel.empty())
    setLogLevel(parseLogLevel(options.logLevel));
  else if (variable && *variable)
    setLogLevel(parseLogLevel(variable));
}

std::optional<RunOptions>
parseRunOptions(int argc, char **argv, const std::filesystem::path &directory) {
  RunOptions options;
  options.directory = directory;
  std::vector<std::string> inputs, data;
  CLI::App app("Runs this rank of a compiled model.");
  app.add_option("--input", inputs,
                 "[NAME=]FILE of whole tensors: .npz .npy .safetensors .pb")
      ->take_all();
  app.add_option("--output", options.output,
                 "where rank 0 writes the outputs: .npz .npy .safetensors");
  auto *compare = app.add_option(
      "--compare", options.compare,
      "expected outputs: prints how far each is from them, in parts of its "
      "largest value; exit code 5 when one is too far");
  app.add_option("--tolerance", options.tolerance,
                 "what --compare allows (default: 1e-4)")
      ->check(isNumber())
      ->needs(compare);
  auto *warmup = app.add_option("--warmup", options.warmup,
                                "runs before those that are timed")
                     ->check(inWholeRange(0, MostRuns));
  auto *repeat = app.add_option("--repeat,--steps", options.repeat,
                                "timed runs; of training, steps")
                     ->check(inWholeRange(1, MostRuns));
  app.add_flag("--json", options.json, "print the figures as JSON");
  app.add_option("--threads", options.threads,
                 "threads of this rank (default: its share of the cores)")
      ->check(inWholeRange(1, MostThreads));
  app.add_option("--timeout", options.deadlines.operation,
                 "seconds that an operation may wait for other ranks")
      ->check(isDeadline());
  app.add_option("--start-timeout", options.deadlines.start,
                 "seconds that the other ranks have to start")
      ->check(isDeadline());
  auto *checkpoint = app.add_option(
      "--checkpoint", options.checkpoint,
      "folder that gets the state of training at the end, and when it is told "
      "to stop");
  app.add_option("--checkpoint-every", options.checkpointEvery,
                 "steps between checkpoints")
      ->check(inWholeRange(1, MostRuns))
      ->needs(checkpoint);
  app.add_flag("--resume", options.resume,
               "start from the last checkpoint of that folder; --repeat counts "
               "the steps from the first on")
      ->needs(checkpoint);
  addDataFlags(app, options, data, repeat);
  addTrainFlags(app, options);
  app.add_option("--trace", options.trace, "folder for trace.json");
  app.add_flag("--no-graph{false}", options.graph,
               "on a device: queue each step anew, rather than replay one that "
               "was captured");
  app.add_flag("--tf32", options.tf32,
               "on a device: products of f32 may be computed in tf32");
  app.add_option("--log-level", options.logLevel, "error, warn, info or debug");
  app.add_option("--directory", options.directory,
                 "folder of manifest.json (default: beside the executable)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &help) {
    app.exit(help);
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    fail(ExitUsage, "{}", error.what());
  }
  for (const std::string &text : inputs)
    options.inputs.push_back(parseInput(text));
  for (const std::string &text : data)
    options.data.push_back(parseInput(text));
  if (!data.empty() && !options.epochs && !repeat->count())
    options.epochs = 1;
  options.report =
      options.json || warmup->count() || repeat->count() || !data.empty();
  if (!options.output.empty())
    verifyWritableKind(options.output);
  applyLogLevel(options);
  return options;
}

} // namespace cleave::rt
