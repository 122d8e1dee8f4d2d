//===- Dnnl.h - what oneDNN operations share ------------------------------===//
//
// One engine, stream and scratchpad per rank, and a primitive that is made once
// and then run with new addresses at the least cost.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_LIBRARY_DNNL_H
#define CLEAVE_RUNTIME_LIBRARY_DNNL_H

#include "runtime/Abi.h"
#include "runtime/support/AlignedBuffer.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace cleave::rt {

/// Primitives run one after another, so they share one scratchpad, which is as
/// large as the largest needs.
class DnnlState {
public:
  DnnlState() : engine(dnnl::engine::kind::cpu, 0), stream(engine) {}

  void *scratchpad(size_t bytes) {
    if (memory.size() < bytes)
      memory = AlignedBuffer(bytes);
    return memory.data();
  }

  dnnl::engine engine;
  dnnl::stream stream;

private:
  AlignedBuffer memory;
};

/// A primitive with its memory objects.
class PreparedPrimitive {
public:
  PreparedPrimitive() = default;
  /// `arguments` in the order of the addresses given to `run`; the primitive's
  /// scratchpad must be in user mode.
  PreparedPrimitive(
      const dnnl::primitive &primitive, const dnnl::memory::desc &scratchpad,
      DnnlState &state,
      std::initializer_list<std::pair<int, dnnl::memory::desc>> arguments);

  /// Appends an argument, as for post-operations.
  void add(int argument, const dnnl::memory::desc &desc, DnnlState &state);

  void run(DnnlState &state, std::span<const void *const> addresses);

private:
  dnnl::primitive primitive;
  size_t scratchpadBytes = 0;
  dnnl::memory scratchpad;
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> args;
};

/// The same tensor in whatever layout oneDNN likes best.
dnnl::memory::desc anyLayout(const dnnl::memory::desc &desc);

/// True when oneDNN would use its slow reference code.
bool isReference(const std::string &implementation);

/// Throws Failure (ExitPlan) unless the tensor is f32, the only type of library
/// operations on CPU.
void verifyF32(const CleaveTensorDesc &desc, const char *what);

} // namespace cleave::rt

#endif
