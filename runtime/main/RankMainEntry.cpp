//===- RankMainEntry.cpp - the main of an executable rank-K ---------------===//
//
// Linked with the rank's program and libcleave_rt.so.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankMain.h"

extern "C" const CleaveProgram cleave_program;

int main(int argc, char **argv) {
  return cleaveRankMain(&cleave_program, argc, argv);
}
