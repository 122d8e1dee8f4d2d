//===- ReplaceFile.cpp - a file that appears whole or not at all ----------===//

#include "runtime/support/ReplaceFile.h"

#include "runtime/support/Error.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace cleave::rt {

void replaceFile(
    const std::filesystem::path &file,
    const std::function<void(const std::filesystem::path &)> &write) {
  std::filesystem::path side = file.string() + fmt::format(".tmp-{}", getpid());
  try {
    write(side);
    std::filesystem::rename(side, file);
  } catch (const std::exception &) {
    std::error_code ignored;
    std::filesystem::remove(side, ignored);
    throw;
  }
}

void replaceFile(const std::filesystem::path &file, const std::string &text) {
  replaceFile(file, [&](const std::filesystem::path &side) {
    std::ofstream stream(side, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream)
      fail(ExitDevice, "cannot write '{}': {}", file.string(),
           std::strerror(errno));
  });
}

} // namespace cleave::rt
