//===- RankRun.cpp - one rank of a program, ready to step -----------------===//
//
// An output that is not split comes from its owner alone. One that is split
// comes from every rank that holds a part; replicas bring equal values.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/RankRun.h"

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
                 Transport &transport, int threads)
    : manifest(manifest), program(program), transport(transport),
      info(manifest.programOf(transport.rank())),
      coords(manifest.ranks[transport.rank()].coords),
      ctx(&transport, program.slotCount, threads),
      state(manifest, transport.rank()), arena(program.arenaBytes),
      inputs(makeBuffers(info.inputs, manifest.inputs, inputPointers)),
      outputs(makeBuffers(info.outputs, manifest.outputs, outputPointers)) {
  ctx.setRoutes(manifest.routes);
  state.declareConstants(ctx);
}

void RankRun::setInputs(std::span<const Array> whole) {
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const PortInfo &port = info.inputs[i];
    const Array &array = whole[port.index];
    Slice slice = sliceOf(port, array.shape, coords, manifest.axisSizes);
    takeSlice(array.data.data(), array.shape, inputs[i].data(), port.shape,
              slice, dtypeBytes(array.dtype));
  }
}

void RankRun::step() {
  CleaveStep step{arena.data(), inputPointers.data(), outputPointers.data(),
                  state.addresses(), coords.data()};
  program.step(&ctx, &step);
  if (ctx.trace)
    ctx.trace->endStep();
  ctx.throwIfFailed();
}

/// True when `rank` hands its part of an output to rank 0.
static bool contributes(const Manifest &manifest, int rank,
                        const PortInfo &port) {
  return isSplit(port) || manifest.outputs[port.index].owner == rank;
}

void RankRun::sendOutput(size_t port) {
  const TensorInfo &output = manifest.outputs[info.outputs[port].index];
  transport.send(0, outputs[port].data(), outputs[port].size(),
                 OutputTag + info.outputs[port].index, output.name.c_str());
}

void RankRun::collectOutput(int index, Array &whole) {
  int64_t bytes = dtypeBytes(whole.dtype);
  for (int rank = 0; rank < manifest.world; ++rank)
    for (const PortInfo &port : manifest.programOf(rank).outputs) {
      if (port.index != index || !contributes(manifest, rank, port))
        continue;
      std::vector<std::byte> part(elementCount(port.shape) * bytes);
      transport.recv(rank, part.data(), part.size(), OutputTag + index,
                     whole.name.c_str());
      Slice slice = sliceOf(port, whole.shape, manifest.ranks[rank].coords,
                            manifest.axisSizes);
      putSlice(part.data(), port.shape, whole.data.data(), whole.shape, slice,
               bytes);
    }
}

std::vector<Array> RankRun::gatherOutputs() {
  for (size_t i = 0; i < info.outputs.size(); ++i)
    if (contributes(manifest, transport.rank(), info.outputs[i]))
      sendOutput(i);
  std::vector<Array> wholes;
  if (transport.rank() != 0)
    return wholes;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const TensorInfo &output = manifest.outputs[i];
    Array &whole =
        wholes.emplace_back(Array{output.name, output.dtype, output.shape, {}});
    whole.data.resize(elementCount(whole.shape) * dtypeBytes(whole.dtype));
    collectOutput(static_cast<int>(i), whole);
  }
  return wholes;
}

} // namespace cleave::rt
