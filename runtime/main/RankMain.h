//===- RankMain.h - entry points of executables ---------------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_RANKMAIN_H
#define CLEAVE_RUNTIME_MAIN_RANKMAIN_H

#include "runtime/Abi.h"

extern "C" {

/// The main of an executable rank-K: runs one rank with the command line of
/// RunOptions.h. `linked` is the executable's program, or null to load it from
/// programs/. Returns the exit code.
int cleaveRankMain(const CleaveProgram *linked, int argc, char **argv);

/// Runs all ranks of `outDir` as threads of this process.
int cleaveLoopbackMain(const char *outDir, int argc, char **argv);
}

#endif
