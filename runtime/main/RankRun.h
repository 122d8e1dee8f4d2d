//===- RankRun.h - one rank of a program, ready to step -------------------===//
//
// Holds what a step needs: context, state, arena, input and output buffers.
// Inputs are set once and stay; a step may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_RANKRUN_H
#define CLEAVE_RUNTIME_MAIN_RANKRUN_H

#include "runtime/Context.h"
#include "runtime/program/State.h"

#include <span>

namespace cleave::rt {

class RankRun {
public:
  RankRun(const Manifest &manifest, const CleaveProgram &program,
          Transport &transport, int threads);

  /// Takes this rank's parts of whole inputs, in the order of the manifest.
  void setInputs(std::span<const void *const> wholes);
  /// Runs the program once; throws its first error.
  void step();
  /// Writes the whole outputs, in the order of the manifest, on rank 0; others
  /// give no addresses. All ranks call it.
  void gatherOutputs(std::span<void *const> wholes);

  CleaveContext &context() { return ctx; }
  RankState &state() { return states; }

private:
  /// Calls a function of the program; throws its first error.
  void call(void (*function)(CleaveContext *, const CleaveStep *));
  void sendOutput(size_t port);
  void collectOutput(int index, void *whole);

  const Manifest &manifest;
  const CleaveProgram &program;
  Transport &transport;
  const ProgramInfo &info;
  const std::vector<int64_t> &coords;
  CleaveContext ctx;
  RankState states;
  AlignedBuffer arena;
  // Filled while the buffers are made, hence before them.
  std::vector<void *> inputPointers, outputPointers;
  std::vector<AlignedBuffer> inputs, outputs;
};

} // namespace cleave::rt

#endif
