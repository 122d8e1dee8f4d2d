//===- Device.h - where the steps of a device program run -----------------===//
//
// A program for a device calls the same ABI as one for a CPU; a context with a
// device hands the calls to it. All addresses are the device's. Calls queue
// work and return; `run` waits for a step.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_DEVICE_H
#define CLEAVE_RUNTIME_DEVICE_H

#include "runtime/transport/Transport.h"

#include <array>
#include <functional>

namespace cleave::rt {

/// Sender, receiver and tag of all messages of a step.
using ChannelTable = std::vector<std::array<int, 3>>;

struct DeviceOptions {
  const CleaveProgram *program = nullptr;
  /// How this rank reaches the others on the host.
  Transport *transport = nullptr;
  Deadlines deadlines;
  /// Capture a step once and replay it.
  bool graph = true;
  /// Products of f32 may be computed in tf32.
  bool tf32 = false;
};

class Device {
public:
  virtual ~Device() = default;

  //===-- Memory: throws Failure (ExitDevice) where there is not enough -----//
  /// Aligned to 256 bytes; lives as long as the device. `what` names it in the
  /// message.
  virtual void *allocate(size_t bytes, const char *what) = 0;
  /// Host memory that the device reads and writes directly.
  virtual std::byte *allocateHost(size_t bytes) = 0;
  /// Both wait until the data is there.
  virtual void upload(void *to, const void *from, size_t bytes) = 0;
  virtual void download(void *to, const void *from, size_t bytes) = 0;
  /// The program's constants on the device.
  virtual const void *constants() const = 0;

  //===-- Steps -------------------------------------------------------------//
  /// Runs what `queue` queues, and waits for it. `queue` may be called or what
  /// it queued before be replayed. Throws what a kernel or a collective found.
  virtual void run(const std::function<void()> &queue) = 0;
  /// The same for what comes before the first step.
  virtual void runOnce(const std::function<void()> &queue) = 0;

  //===-- Called within `queue`: see Abi.h ----------------------------------//
  virtual void launch(const CleaveLaunchDesc &desc, void *const *args,
                      const char *op, const char *failMessage) = 0;
  virtual void matmul(int slot, const CleaveMatmulDesc &desc, const void *a,
                      const void *b, void *c, const void *const *post) = 0;
  virtual void conv(int slot, const CleaveConvDesc &desc, const void *input,
                    const void *weight, void *output,
                    const void *const *post) = 0;
  virtual void convWeightGrad(int slot, const CleaveConvDesc &desc,
                              const void *input, const void *doutput,
                              void *dweight) = 0;
  virtual void copy(void *to, const void *from, size_t bytes) = 0;
  virtual void fill(void *to, size_t bytes, int value) = 0;
  virtual void storeIndex(void *to, int64_t value) = 0;

  //===-- Communication -----------------------------------------------------//
  /// Makes the groups and the channels. All ranks call it with the same tables.
  virtual void connect(const GroupTable &groups,
                       const ChannelTable &channels) = 0;
  virtual Collectives &group(int index) = 0;
  virtual void send(int to, const void *data, size_t bytes, int tag) = 0;
  virtual void recv(int from, void *data, size_t bytes, int tag) = 0;
};

/// The signature of `cleaveMakeCudaDevice`, which libcleave_cuda.so exports.
using MakeDeviceFn = Device *(const DeviceOptions &);

/// Loads libcleave_cuda.so, which is beside libcleave_rt.so, and takes the
/// device of this rank's place on its host. Throws Failure (ExitDevice).
std::unique_ptr<Device> loadCudaDevice(const DeviceOptions &options);

} // namespace cleave::rt

#endif
