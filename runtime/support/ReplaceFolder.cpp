//===- ReplaceFolder.cpp - a folder that appears whole or not at all ------===//

#include "runtime/support/ReplaceFolder.h"

#include "runtime/support/Error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cleave::rt {

void syncFolder(const std::filesystem::path &folder) {
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool fails = descriptor < 0 || fsync(descriptor) != 0;
  int error = errno;
  if (descriptor >= 0)
    close(descriptor);
  if (fails)
    fail(ExitDevice, "cannot write '{}' to disk: {}", folder.string(),
         std::strerror(error));
}

static void renameTo(const std::filesystem::path &from,
                     const std::filesystem::path &to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    fail(ExitDevice, "cannot rename '{}' to '{}': {}", from.string(),
         to.string(), std::strerror(errno));
}

/// False where the file system cannot.
static bool exchange(const std::filesystem::path &a,
                     const std::filesystem::path &b) {
  if (renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (errno == EINVAL || errno == ENOSYS)
    return false;
  fail(ExitDevice, "cannot exchange '{}' and '{}': {}", a.string(), b.string(),
       std::strerror(errno));
}

void replaceFolder(const std::filesystem::path &side,
                   const std::filesystem::path &place) {
  std::filesystem::path parent =
      place.has_parent_path() ? place.parent_path() : ".";
  std::error_code ignored;
  if (!std::filesystem::exists(place, ignored)) {
    renameTo(side, place);
    return syncFolder(parent);
  }
  std::filesystem::path old = side;
  if (!exchange(side, place)) {
    old += ".old";
    std::filesystem::remove_all(old, ignored);
    renameTo(place, old);
    renameTo(side, place);
  }
  syncFolder(parent);
  std::filesystem::remove_all(old, ignored);
}

} // namespace cleave::rt
