//===- LoopbackRun.cpp - run a folder OUT with ranks as threads -----------===//
//
// usage: loopback-run OUT ARGS...      ARGS as of OUT/launch
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankMain.h"

int main(int argc, char **argv) {
  return argc < 2 ? 2 : cleaveLoopbackMain(argv[1], argc - 1, argv + 1);
}
