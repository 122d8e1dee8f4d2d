//===- cleave.cpp - the driver: its verbs, one file each ------------------===//
//
// Verbs are in files of their names. What goes wrong is one line on standard
// error and an exit code of Verbs.h.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Usage.h"
#include "tools/cleave/Verbs.h"

#include <cstdio>
#include <exception>

using namespace cleave;

static int drive(int argc, char **argv) {
  CLI::App app(
      "Compiles ONNX models for a cluster: one native executable per rank.",
      "cleave");
  app.require_subcommand(1);
  Verb verb;
  addCompile(app, verb);
  addPlan(app, verb);
  addRun(app, verb);
  addExport(app, verb);
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
                 describeUsage(app, error, argc, argv).c_str());
    return ExitUsage;
  }
  return verb();
}

int main(int argc, char **argv) {
  try {
    return drive(argc, argv);
  } catch (const std::exception &exception) {
    std::fprintf(stderr, "cleave: error: %s\n", exception.what());
    return ExitDevice;
  }
}
