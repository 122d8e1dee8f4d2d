//===- Launch.cpp - become the executable of this process's rank ----------===//
//
// Copied to OUT/launch. Finds rank and size as the launcher left them and
// executes rank-$RANK beside itself with the same arguments. Links to nothing
// of ours, so that it can say what is wrong where libraries are missing.
//
//===----------------------------------------------------------------------===//

#include "runtime/Format.h"
#include "runtime/main/Launched.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace cleave;
namespace fs = std::filesystem;

static fs::path rankFile(const fs::path &folder, int rank) {
  return folder / (format::RankPrefix + std::to_string(rank));
}

static int countRanks(const fs::path &folder) {
  int count = 0;
  std::error_code error;
  while (fs::exists(rankFile(folder, count), error))
    ++count;
  return count;
}

/// Help is the same for all ranks and needs no others.
static bool wantsHelp(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h"))
      return true;
  return false;
}

int main(int argc, char **argv) {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  rt::Launched launched =
      rt::findLaunched().value_or(rt::Launched{"no launcher", 0, 1, 0, 1});
  int needed = countRanks(folder);
  if (wantsHelp(argc, argv)) {
    if (launched.rank != 0)
      return 0;
  } else if (needed != launched.size) {
    // Every process knows; one tells.
    if (launched.rank == 0)
      std::fprintf(stderr,
                   "cleave: error: plan needs %d %s but %d %s started: "
                   "mpirun -n %d %s\n",
                   needed, needed == 1 ? "rank" : "ranks", launched.size,
                   launched.size == 1 ? "was" : "were", needed, argv[0]);
    return 5;
  }
  fs::path file = rankFile(folder, launched.rank);
  std::string name = file.string();
  argv[0] = name.data();
  execv(name.c_str(), argv);
  std::fprintf(stderr, "cleave: error: cannot execute '%s': %s\n", name.c_str(),
               std::strerror(errno));
  return 5;
}
