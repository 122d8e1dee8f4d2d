//===- DeviceMemory.cpp - what a step of a device program works on --------===//
//
// Every tensor begins at a multiple of 256 bytes, as kernels rely on.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/DeviceMemory.h"

#include "runtime/Arrays.h"
#include "runtime/support/Dtype.h"

#include <algorithm>
#include <cstring>

namespace cleave::rt {

static constexpr size_t Alignment = 256;

static size_t roundUp(size_t bytes) {
  return (bytes + Alignment - 1) / Alignment * Alignment;
}

/// One allocation for all of `sizes`; the address of each.
static std::vector<void *>
place(Device &device, const std::vector<size_t> &sizes, const char *what) {
  size_t total = 0;
  for (size_t bytes : sizes)
    total += roundUp(bytes);
  auto *base = static_cast<std::byte *>(device.allocate(total, what));
  std::vector<void *> addresses;
  for (size_t bytes : sizes) {
    addresses.push_back(base);
    base += roundUp(bytes);
  }
  return addresses;
}

static std::vector<size_t> sizesOf(const std::vector<PortInfo> &ports,
                                   const std::vector<TensorInfo> &tensors) {
  std::vector<size_t> sizes;
  for (const PortInfo &port : ports)
    sizes.push_back(elementCount(port.shape) *
                    dtypeBytes(tensors[port.index].dtype));
  return sizes;
}

static size_t bytesOf(const StateInfo &state) {
  return elementCount(state.shape) * dtypeBytes(state.dtype);
}

DeviceMemory::DeviceMemory(Device &device, const CleaveProgram &program,
                           const ProgramInfo &info, const Manifest &manifest,
                           void *const *state,
                           const std::vector<int64_t> &coords)
    : device(device), coords(coords) {
  std::vector<size_t> stateSizes;
  for (const StateInfo &each : info.state)
    stateSizes.push_back(bytesOf(each));
  states = place(device, stateSizes, "the weights");
  for (size_t i = 0; i < states.size(); ++i)
    device.upload(states[i], state[i], stateSizes[i]);
  arena = device.allocate(program.arenaBytes, "the arena");

  std::vector<size_t> sizes = sizesOf(info.inputs, manifest.inputs);
  std::vector<size_t> outputSizes = sizesOf(info.outputs, manifest.outputs);
  sizes.insert(sizes.end(), outputSizes.begin(), outputSizes.end());
  size_t coordBytes = coords.size() * sizeof(int64_t);
  sizes.push_back(coordBytes);
  inputs = place(device, sizes, "inputs and outputs");
  deviceCoords = static_cast<const int64_t *>(inputs.back());
  device.upload(inputs.back(), coords.data(), coordBytes);
  inputs.pop_back();
  outputs.assign(inputs.begin() + static_cast<long>(info.inputs.size()),
                 inputs.end());
  inputs.resize(info.inputs.size());
  staging = device.allocateHost(*std::max_element(sizes.begin(), sizes.end()));
}

void DeviceMemory::fetchState(const ProgramInfo &info, void *const *state) {
  for (size_t i = 0; i < states.size(); ++i)
    if (info.state[i].isMutable)
      device.download(state[i], states[i], bytesOf(info.state[i]));
}

void DeviceMemory::pushState(const ProgramInfo &info, void *const *state) {
  for (size_t i = 0; i < states.size(); ++i)
    if (info.state[i].isMutable)
      device.upload(states[i], state[i], bytesOf(info.state[i]));
}

void DeviceMemory::pushSettings(const ProgramInfo &info, void *const *state) {
  for (size_t i = 0; i < states.size(); ++i)
    if (info.state[i].setting)
      device.upload(states[i], state[i], bytesOf(info.state[i]));
}

void DeviceMemory::setInput(size_t port, const AlignedBuffer &data) {
  if (data.size() == 0)
    return;
  std::memcpy(staging, data.data(), data.size());
  device.upload(inputs[port], staging, data.size());
}

void DeviceMemory::getOutput(size_t port, AlignedBuffer &data) {
  if (data.size() == 0)
    return;
  device.download(staging, outputs[port], data.size());
  std::memcpy(data.data(), staging, data.size());
}

CleaveStep DeviceMemory::step() const {
  return {arena,        inputs.data(), outputs.data(),    states.data(),
          deviceCoords, coords.data(), device.constants()};
}

} // namespace cleave::rt
