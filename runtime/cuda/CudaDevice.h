//===- CudaDevice.h - one rank's CUDA device ------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_CUDADEVICE_H
#define CLEAVE_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/Device.h"
#include "runtime/cuda/Code.h"
#include "runtime/cuda/Communication.h"
#include "runtime/cuda/Conv.h"
#include "runtime/cuda/Matmul.h"

#include <optional>

namespace cleave::rt::cuda {

/// Makes the device of a rank's place on its host current for this thread;
/// given back at the end.
class DeviceContext {
public:
  explicit DeviceContext(int localRank);
  ~DeviceContext();
  DeviceContext(const DeviceContext &) = delete;
  DeviceContext &operator=(const DeviceContext &) = delete;

  DeviceNumber number = 0;
};

class CudaDevice final : public Device {
public:
  explicit CudaDevice(const DeviceOptions &options);
  ~CudaDevice() override;

  void *allocate(size_t bytes, const char *what) override {
    return memory.allocate(bytes, what);
  }
  std::byte *allocateHost(size_t bytes) override {
    return memory.allocateHost(bytes);
  }
  void upload(void *to, const void *from, size_t bytes) override;
  void download(void *to, const void *from, size_t bytes) override;
  const void *constants() const override { return constantBase; }

  void run(const std::function<void()> &queue) override;
  void runOnce(const std::function<void()> &queue) override;

  void launch(const CleaveLaunchDesc &desc, void *const *args, const char *op,
              const char *failMessage) override;
  void matmul(int slot, const CleaveMatmulDesc &desc, const void *a,
              const void *b, void *c, const void *const *post) override;
  void conv(int slot, const CleaveConvDesc &desc, const void *input,
            const void *weight, void *output, const void *const *post) override;
  void convWeightGrad(int slot, const CleaveConvDesc &desc, const void *input,
                      const void *doutput, void *dweight) override;
  void copy(void *to, const void *from, size_t bytes) override;
  void fill(void *to, size_t bytes, int value) override;
  void storeIndex(void *to, int64_t value) override;

  void connect(const GroupTable &groups, const ChannelTable &channels) override;
  Collectives &group(int index) override { return communication.group(index); }
  void send(int to, const void *data, size_t bytes, int tag) override {
    communication.send(to, data, bytes, tag);
  }
  void recv(int from, void *data, size_t bytes, int tag) override {
    communication.recv(from, data, bytes, tag);
  }

private:
  void queueStep(const std::function<void()> &queue);
  void capture(const std::function<void()> &queue);
  /// Throws what a kernel has found.
  void checkCells();

  DeviceContext context;
  Memory memory;
  Stream stream;
  Code code;
  Products products;
  Convolutions convolutions;
  Communication communication;
  void *constantBase = nullptr;

  /// What a set error cell means; null until its kernel was launched.
  struct Cell {
    const char *op = nullptr, *message = nullptr;
  };
  std::vector<Cell> cells;
  int64_t *deviceCells = nullptr, *hostCells = nullptr;

  bool usesGraph;
  int64_t steps = 0;
  GraphExecHandle graph = nullptr;
};

} // namespace cleave::rt::cuda

#endif
