//===- cleave.cpp - the driver: compile, run, inspect, doctor -------------===//
//
// Verbs are in files of their names. What goes wrong is one line on standard
// error and an exit code of Verbs.h.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Verbs.h"

#include <cstdio>

using namespace cleave;

/// What is wrong, and whose help says more.
static std::string describe(const CLI::App &app, const CLI::ParseError &error,
                            int argc, char **argv) {
  std::string first = argc > 1 ? argv[1] : "", verbs;
  for (const CLI::App *verb : app.get_subcommands({})) {
    if (verb->get_name() == first)
      return error.what() + ("; see `cleave " + first) + " --help`";
    verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
  }
  if (first.empty() || first.starts_with('-'))
    return error.what() + std::string("; see `cleave --help`");
  return "there is no verb '" + first + "'; expected one of " + verbs;
}

int main(int argc, char **argv) {
  CLI::App app(
      "Compiles ONNX models for a cluster: one native executable per rank.",
      "cleave");
  app.require_subcommand(1);
  Verb verb;
  addCompile(app, verb);
  addRun(app, verb);
  addInspect(app, verb);
  addDoctor(app, verb);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "cleave: error: %s\n",
                 describe(app, error, argc, argv).c_str());
    return ExitUsage;
  }
  return verb();
}
