//===- DeviceMemory.h - what a step of a device program works on ----------===//
//
// One allocation for the weights, one for the arena, one for inputs and
// outputs; the tables that CleaveStep points to.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_DEVICEMEMORY_H
#define CLEAVE_RUNTIME_MAIN_DEVICEMEMORY_H

#include "runtime/Device.h"
#include "runtime/program/Manifest.h"
#include "runtime/support/AlignedBuffer.h"

namespace cleave::rt {

class DeviceMemory {
public:
  /// Copies the rank's weights, at `state` on the host, to the device. Throws
  /// Failure (ExitDevice) when there is not enough memory.
  DeviceMemory(Device &device, const CleaveProgram &program,
               const ProgramInfo &info, const Manifest &manifest,
               void *const *state, const std::vector<int64_t> &coords);

  /// Copies what steps may store: to `state` on the host, and from it.
  void fetchState(const ProgramInfo &info, void *const *state);
  void pushState(const ProgramInfo &info, void *const *state);
  /// Copies the numbers that a run sets before each step.
  void pushSettings(const ProgramInfo &info, void *const *state);
  void setInput(size_t port, const AlignedBuffer &data);
  void getOutput(size_t port, AlignedBuffer &data);
  CleaveStep step() const;

private:
  Device &device;
  void *arena;
  std::vector<void *> states, inputs, outputs;
  const int64_t *deviceCoords;
  const std::vector<int64_t> &coords;
  std::byte *staging; ///< as large as the largest input or output
};

} // namespace cleave::rt

#endif
