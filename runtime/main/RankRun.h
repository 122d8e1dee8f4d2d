//===- RankRun.h - one rank of a program, ready to step -------------------===//
//
// Holds what a step needs: context, state, arena, input and output buffers.
// Inputs are set once and stay; a step may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_RANKRUN_H
#define CLEAVE_RUNTIME_MAIN_RANKRUN_H

#include "runtime/Arrays.h"
#include "runtime/Context.h"
#include "runtime/program/State.h"

#include <span>

namespace cleave::rt {

class RankRun {
public:
  RankRun(const Manifest &manifest, const CleaveProgram &program,
          Transport &transport, int threads);

  /// Takes this rank's parts of whole inputs, in the order of the manifest.
  void setInputs(std::span<const Array> whole);
  /// Runs the program once; throws its first error.
  void step();
  /// The whole outputs on rank 0, nothing on others; all ranks call it.
  std::vector<Array> gatherOutputs();

  CleaveContext &context() { return ctx; }

private:
  void sendOutput(size_t port);
  void collectOutput(int index, Array &whole);

  const Manifest &manifest;
  const CleaveProgram &program;
  Transport &transport;
  const ProgramInfo &info;
  const std::vector<int64_t> &coords;
  CleaveContext ctx;
  RankState state;
  AlignedBuffer arena;
  // Filled while the buffers are made, hence before them.
  std::vector<void *> inputPointers, outputPointers;
  std::vector<AlignedBuffer> inputs, outputs;
};

} // namespace cleave::rt

#endif
