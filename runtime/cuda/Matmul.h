//===- Matmul.h - products by cuBLASLt ------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_MATMUL_H
#define CLEAVE_RUNTIME_CUDA_MATMUL_H

#include "runtime/Abi.h"
#include "runtime/cuda/BlasLt.h"
#include "runtime/cuda/Memory.h"

#include <memory>
#include <vector>

namespace cleave::rt::cuda {

/// One call site: layouts and the algorithm that the library's heuristic names
/// for them, found once.
class Matmul;

/// The library's state of one rank.
class Products {
public:
  Products(Memory &memory, int slots, bool tf32);
  ~Products();

  /// See cleaveMatmul. Throws Failure (ExitPlan) for what no call does, and
  /// (ExitDevice) where the library fails.
  void run(int slot, const CleaveMatmulDesc &desc, const void *a, const void *b,
           void *c, const void *const *post, StreamHandle stream);

private:
  Memory &memory;
  std::vector<std::unique_ptr<Matmul>> slots;
  bool tf32;
  BlasHandle handle = nullptr;
  void *workspace = nullptr;
};

} // namespace cleave::rt::cuda

#endif
