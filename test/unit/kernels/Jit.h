//===- Jit.h - compile and run one kernel in this process -----------------===//
//
// Takes the text of a function with one cleave.kernel, builds it as the
// compiler does, to object bytes, and runs it on arrays of the test.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_TEST_UNIT_KERNELS_JIT_H
#define CLEAVE_TEST_UNIT_KERNELS_JIT_H

#include "codegen/cpu/kernels/Kernels.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace cleave {

/// A strided array; the gaps between its elements are filled with a mark.
template <typename T> struct Array {
  std::vector<int64_t> shape, strides;
  std::vector<T> data;

  /// Dense, with `order` naming the dims from the outermost to the innermost,
  /// and `gap` elements between rows of the innermost dim.
  Array(std::vector<int64_t> shape, std::vector<int64_t> order = {},
        int64_t gap = 0)
      : shape(shape), strides(shape.size()) {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      int64_t dim = order.empty() ? i : order[i];
      strides[dim] = stride;
      stride = stride * shape[dim] + (i + 1 == shape.size() ? gap : 0);
    }
    data.assign(std::max<int64_t>(stride, 1) + 64, T(77));
  }

  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  }
  /// Element at the row-major position.
  T &operator[](int64_t position) {
    int64_t offset = 0;
    for (size_t i = shape.size(); i-- > 0; position /= shape[i])
      offset += position % shape[i] * strides[i];
    return data[offset];
  }
  template <typename... Is> T &at(Is... is) {
    int64_t offset = 0, dim = 0;
    ((offset += is * strides[dim++]), ...);
    return data[offset];
  }
  /// Values from -range to range, of unsigned types without the sign; the same
  /// on every machine.
  Array &randomize(double range = 2.0, uint32_t seed = 1) {
    uint32_t state = seed * 2654435761u + 12345u;
    for (int64_t i = 0; i < count(); ++i) {
      state = state * 1664525u + 1013904223u;
      double value = (double(state >> 8) / (1 << 24) * 2 - 1) * range;
      (*this)[i] = T(std::is_unsigned_v<T> ? std::abs(value) : value);
    }
    return *this;
  }
};

/// A loop kernel of one function argument per type; `body` makes %y from %x0,
/// %x1 and so on. Types are written without `tensor<>`.
std::string loopText(std::vector<std::string> operands, std::string result,
                     std::string body);

/// A compiled kernel. `plan` says how it is to be run.
class JitKernel {
public:
  /// Compiles the only cleave.kernel in `text`. `strides`: per operand, then
  /// per result; a missing or empty entry is dense. Aborts with a message on
  /// failure.
  JitKernel(llvm::StringRef text,
            std::vector<std::vector<int64_t>> strides = {});

  /// Runs items [0, extent) in `parts` calls; returns the error cell.
  int64_t run(std::vector<void *> args, int64_t parts = 3);

  KernelPlan plan;

private:
  mlir::MLIRContext context;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  void (*function)(void *const *, int64_t, int64_t, void *);
};

} // namespace cleave

#endif
