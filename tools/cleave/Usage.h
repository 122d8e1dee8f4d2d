//===- Usage.h - errors of the command line -------------------------------===//

#ifndef CLEAVE_TOOLS_CLEAVE_USAGE_H
#define CLEAVE_TOOLS_CLEAVE_USAGE_H

#include <CLI/CLI.hpp>

#include <string>

namespace cleave {

/// What is wrong with the command line, and whose help says more.
std::string describeUsage(const CLI::App &app, const CLI::ParseError &error,
                          int argc, char **argv);

} // namespace cleave

#endif
