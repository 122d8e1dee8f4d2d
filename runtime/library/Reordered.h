//===- Reordered.h - tensors in a layout that oneDNN chose ----------------===//
//
// oneDNN's fast code wants layouts of its own; reorders lead from and to the
// plain layouts of the program.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_LIBRARY_REORDERED_H
#define CLEAVE_RUNTIME_LIBRARY_REORDERED_H

#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"

namespace cleave::rt {

/// A tensor on its way between the program's layout and a primitive's.
class Reordered {
public:
  enum Direction { Inward, Outward };

  /// Sets both layouts; makes the reorder and a buffer of the inner layout
  /// where they differ.
  void prepare(DnnlState &state, const dnnl::memory::desc &plain,
               const dnnl::memory::desc &inner, Direction direction);
  bool needed() const { return plain != inner; }
  const dnnl::memory::desc &innerDesc() const { return inner; }
  /// Bytes that the tensor spans in the program's layout.
  size_t plainBytes() const { return plain.get_size(); }
  /// Address of the tensor in the inner layout: `given` where it is that.
  const void *innerAddress(const void *given) const {
    return needed() ? buffer.data() : given;
  }
  /// Fills the buffer from `given`, or `given` from the buffer.
  void run(DnnlState &state, const void *given);

private:
  dnnl::memory::desc plain, inner;
  Direction direction = Inward;
  PreparedPrimitive reorder;
  AlignedBuffer buffer;
};

/// A weight on its way in: reordered once where no step writes it.
class ReorderedWeight : public Reordered {
public:
  /// Multiplies the rows of the weight, which is dense and constant, by factors
  /// on its way; before `prepare`.
  void scaleRows(std::vector<float> factors) {
    rowFactors = std::move(factors);
  }
  const void *get(CleaveContext &context, const void *given);

private:
  void makeScaled(const void *given);

  const void *current = nullptr;
  std::vector<float> rowFactors;
  AlignedBuffer scaled;
};

} // namespace cleave::rt

#endif
