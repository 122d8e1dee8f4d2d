//===- RankRun.cpp - one rank of a program, ready to step -----------------===//
//
// An output that is not split comes from its owner alone. One that is split
// comes from every rank that holds a part; replicas bring equal values.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankRun.h"

#include "runtime/Arrays.h"
#include "runtime/Messages.h"
#include "runtime/program/Slices.h"
#include "runtime/support/Dtype.h"

#include <cstring>

namespace cleave::rt {

static std::vector<AlignedBuffer>
makeBuffers(const std::vector<PortInfo> &ports,
            const std::vector<TensorInfo> &tensors,
            std::vector<void *> &pointers) {
  std::vector<AlignedBuffer> buffers;
  for (const PortInfo &port : ports) {
    size_t bytes =
        elementCount(port.shape) * dtypeBytes(tensors[port.index].dtype);
    AlignedBuffer &buffer = buffers.emplace_back(bytes);
    if (bytes)
      std::memset(buffer.data(), 0, bytes);
    pointers.push_back(buffer.data());
  }
  return buffers;
}

RankRun::RankRun(const Manifest &manifest, const CleaveProgram &program,
                 Transport &transport, int threads,
                 const DeviceOptions &options)
    : manifest(manifest), program(program), transport(transport),
      info(manifest.programOf(transport.rank())),
      coords(manifest.ranks[transport.rank()].coords),
      ctx(&transport, program.slotCount, threads),
      states(manifest, transport.rank()),
      arena(program.device ? 0 : program.arenaBytes),
      inputs(makeBuffers(info.inputs, manifest.inputs, inputPointers)),
      outputs(makeBuffers(info.outputs, manifest.outputs, outputPointers)) {
  ctx.setRoutes(manifest.routes);
  states.declareConstants(ctx);
  if (program.device) {
    DeviceOptions own = options;
    own.program = &program;
    own.transport = &transport;
    ctx.device = loadCudaDevice(own);
    onDevice = std::make_unique<DeviceMemory>(
        *ctx.device, program, info, manifest, states.addresses(), coords);
  }
  if (program.prepare && ctx.device)
    ctx.device->runOnce([&] { call(program.prepare); });
  else if (program.prepare)
    call(program.prepare);
}

CleaveStep RankRun::tables() {
  if (onDevice)
    return onDevice->step();
  return {arena.data(),
          inputPointers.data(),
          outputPointers.data(),
          states.addresses(),
          coords.data(),
          coords.data(),
          nullptr};
}

void RankRun::call(void (*function)(CleaveContext *, const CleaveStep *)) {
  CleaveStep step = tables();
  function(&ctx, &step);
  ctx.throwIfFailed();
}

void RankRun::connect() {
  if (ctx.device)
    ctx.device->connect(manifest.groups, manifest.channels);
}

void RankRun::fetchState() {
  if (onDevice)
    onDevice->fetchState(info, states.addresses());
}

void RankRun::pushState() {
  if (onDevice)
    onDevice->pushState(info, states.addresses());
}

void RankRun::pushSettings() {
  if (onDevice)
    onDevice->pushSettings(info, states.addresses());
}

void RankRun::setInputs(std::span<const void *const> wholes) {
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const PortInfo &port = info.inputs[i];
    const TensorInfo &input = manifest.inputs[port.index];
    if (!wholes[port.index])
      continue;
    Slice slice = sliceOf(port, input.shape, coords, manifest.axisSizes);
    takeSlice(static_cast<const std::byte *>(wholes[port.index]), input.shape,
              inputs[i].data(), port.shape, slice, dtypeBytes(input.dtype));
    if (onDevice)
      onDevice->setInput(i, inputs[i]);
  }
}

void RankRun::setBatch(const DataSet &data, std::span<const int64_t> ids) {
  for (size_t i = 0; i < info.inputs.size(); ++i)
    if (data.take(info.inputs[i], ids, inputs[i].data()) && onDevice)
      onDevice->setInput(i, inputs[i]);
}

void RankRun::readAhead(const DataSet &data,
                        std::span<const int64_t> ids) const {
  for (const PortInfo &port : info.inputs)
    data.readAhead(port, ids);
}

void RankRun::step() {
  if (ctx.device)
    ctx.device->run([&] { call(program.step); });
  else
    call(program.step);
  if (ctx.trace)
    ctx.trace->endStep();
}

/// True when `rank` hands its part of an output to rank 0.
static bool contributes(const Manifest &manifest, int rank,
                        const PortInfo &port) {
  return isSplit(port) || manifest.outputs[port.index].owner == rank;
}

void RankRun::sendOutput(size_t port) {
  if (onDevice)
    onDevice->getOutput(port, outputs[port]);
  const TensorInfo &output = manifest.outputs[info.outputs[port].index];
  transport.send(0, outputs[port].data(), outputs[port].size(),
                 OutputTag + info.outputs[port].index, output.name.c_str());
}

void RankRun::collectOutput(int index, void *whole) {
  const TensorInfo &output = manifest.outputs[index];
  int64_t bytes = dtypeBytes(output.dtype);
  for (int rank = 0; rank < manifest.world; ++rank)
    for (const PortInfo &port : manifest.programOf(rank).outputs) {
      if (port.index != index || !contributes(manifest, rank, port))
        continue;
      std::vector<std::byte> part(elementCount(port.shape) * bytes);
      transport.recv(rank, part.data(), part.size(), OutputTag + index,
                     output.name.c_str());
      Slice slice = sliceOf(port, output.shape, manifest.ranks[rank].coords,
                            manifest.axisSizes);
      putSlice(part.data(), port.shape, static_cast<std::byte *>(whole),
               output.shape, slice, bytes);
    }
}

void RankRun::gatherOutput(int index, void *whole) {
  for (size_t i = 0; i < info.outputs.size(); ++i)
    if (info.outputs[i].index == index &&
        contributes(manifest, transport.rank(), info.outputs[i]))
      sendOutput(i);
  if (transport.rank() == 0)
    collectOutput(index, whole);
}

void RankRun::gatherOutputs(std::span<void *const> wholes) {
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    gatherOutput(static_cast<int>(i),
                 transport.rank() == 0 ? wholes[i] : nullptr);
}

} // namespace cleave::rt
