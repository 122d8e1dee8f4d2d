//===- Usage.cpp - errors of the command line -----------------------------===//

#include "tools/cleave/Usage.h"

std::string cleave::describeUsage(const CLI::App &app,
                                  const CLI::ParseError &error, int argc,
                                  char **argv) {
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
