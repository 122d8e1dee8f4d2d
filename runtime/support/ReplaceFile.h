//===- ReplaceFile.h - a file that appears whole or not at all ------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_REPLACEFILE_H
#define CLEAVE_RUNTIME_SUPPORT_REPLACEFILE_H

#include <filesystem>
#include <functional>
#include <string>

namespace cleave::rt {

/// Lets `write` make a file beside `file`, which it then replaces. When either
/// throws, nothing is left of it and `file` is as it was.
void replaceFile(
    const std::filesystem::path &file,
    const std::function<void(const std::filesystem::path &)> &write);

/// Replaces `file` by a text. Throws Failure (ExitDevice).
void replaceFile(const std::filesystem::path &file, const std::string &text);

} // namespace cleave::rt

#endif
