//===- RankRun.h - one rank of a program, ready to step -------------------===//
//
// Holds what a step needs: context, state, arena, input and output buffers.
// Inputs are set once and stay; a step may be run any number of times.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_RANKRUN_H
#define CLEAVE_RUNTIME_MAIN_RANKRUN_H

#include "runtime/Context.h"
#include "runtime/data/DataSet.h"
#include "runtime/main/DeviceMemory.h"
#include "runtime/program/State.h"

#include <span>

namespace cleave::rt {

class RankRun {
public:
  /// `options` are those of the run that matter to a device.
  RankRun(const Manifest &manifest, const CleaveProgram &program,
          Transport &transport, int threads, const DeviceOptions &options = {});

  /// Connects the ranks' devices, if the program has one. All ranks call it.
  void connect();

  /// Takes this rank's parts of whole inputs, in the order of the manifest. An
  /// input that has no address stays as it is.
  void setInputs(std::span<const void *const> wholes);
  /// Takes this rank's parts of the batch of these samples.
  void setBatch(const DataSet &data, std::span<const int64_t> ids);
  /// Has the system read those parts in the background.
  void readAhead(const DataSet &data, std::span<const int64_t> ids) const;
  /// Runs the program once; throws its first error.
  void step();
  /// Writes the whole outputs, in the order of the manifest, on rank 0; others
  /// give no addresses. All ranks call it.
  void gatherOutputs(std::span<void *const> wholes);

  /// The same for one output.
  void gatherOutput(int index, void *whole);

  CleaveContext &context() { return ctx; }
  RankState &state() { return states; }
  /// What steps have stored in the state of a device, brought to the host; and
  /// what the host has, to the device. Nothing where there is no device.
  void fetchState();
  void pushState();
  /// The settings of the next step, to the device.
  void pushSettings();

private:
  /// Calls a function of the program; throws its first error.
  CleaveStep tables();
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
  AlignedBuffer arena; ///< none where there is a device
  // Filled while the buffers are made, hence before them.
  std::vector<void *> inputPointers, outputPointers;
  std::vector<AlignedBuffer> inputs, outputs;
  std::unique_ptr<DeviceMemory> onDevice; ///< null: the program is for CPUs
};

} // namespace cleave::rt

#endif
