//===- Conv.h - convolutions by cuDNN -------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_CONV_H
#define CLEAVE_RUNTIME_CUDA_CONV_H

#include "runtime/Abi.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/cuda/Memory.h"

#include <memory>
#include <vector>

namespace cleave::rt::cuda {

/// Which of its three tensors a convolution makes; that of a transposed one is
/// its input.
enum class ConvKind { Forward, Transposed, WeightGradient };

/// One call site: descriptors and the algorithm that the library's heuristic
/// names for them, found once.
class Conv;

/// The library's state of one rank.
class Convolutions {
public:
  Convolutions(Memory &memory, int slots, bool tf32);
  ~Convolutions();

  /// See cleaveConv; without post-operations. Throws Failure (ExitPlan) for
  /// what no call does, and (ExitDevice) where the library fails.
  void run(int slot, const CleaveConvDesc &desc, const void *input,
           const void *weight, void *output, StreamHandle stream);
  /// See cleaveConvWeightGrad; throws like `run`.
  void runWeightGrad(int slot, const CleaveConvDesc &desc, const void *input,
                     const void *doutput, void *dweight, StreamHandle stream);

private:
  void call(int slot, ConvKind kind, const CleaveConvDesc &desc,
            const void *input, const void *rhs, void *result,
            StreamHandle stream);

  std::vector<std::unique_ptr<Conv>> slots;
  bool tf32;
  DnnHandle handle = nullptr;
  Scratch workspace;
};

} // namespace cleave::rt::cuda

#endif
