//===- Context.h - one rank's execution state -----------------------------===//
//
// What stands behind the opaque CleaveContext of the ABI: the first error, the
// threads, the transport with this rank's routes, the library operations by
// slot, and the trace.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CONTEXT_H
#define CLEAVE_RUNTIME_CONTEXT_H

#include "runtime/Abi.h"
#include "runtime/Device.h"
#include "runtime/Trace.h"
#include "runtime/support/AlignedBuffer.h"
#include "runtime/support/Error.h"
#include "runtime/transport/Transport.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cleave::rt {

/// A library operation that a slot keeps; see library/.
class LibraryOp {
public:
  virtual ~LibraryOp() = default;
};

/// Routes as in manifest.json: for each, pairs [from, to].
using RouteTable = std::vector<std::vector<std::pair<int, int>>>;

/// Library state of one rank (engine, stream, scratchpad); see library/Dnnl.h.
class DnnlState;

} // namespace cleave::rt

struct CleaveContext {
  /// `transport` may be null where no collective is called (unit tests).
  CleaveContext(cleave::rt::Transport *transport, int slotCount, int threads);
  ~CleaveContext();
  CleaveContext(const CleaveContext &) = delete;
  CleaveContext &operator=(const CleaveContext &) = delete;

  bool failed() const { return error.has_value(); }
  /// Keeps the first error; later ones follow from it.
  void setError(const cleave::rt::Failure &failure);
  /// Forgets the error of a step, before the next.
  void clearError() { error.reset(); }
  /// Throws the error of the step, if there was one.
  void throwIfFailed() const;

  void setRoutes(const cleave::rt::RouteTable &routes);
  /// Ranks that a send on `route` goes to; the one that a recv comes from. None
  /// where this rank has no part in the route.
  const std::vector<int> &receivers(int route) const;
  std::optional<int> sender(int route) const;

  /// Memory that no step writes: what is made from it once stays valid.
  void addConstant(const void *begin, size_t bytes, bool isMapped = false);
  bool isConstant(const void *address) const;
  /// A constant that was made into something else: what a file can give back
  /// need not stay in memory.
  void releaseConstant(const void *begin, size_t bytes) const;

  /// Working memory of kernels, as large as the largest needs.
  std::byte *kernelScratch(size_t bytes);

  /// The collectives of group `index`, on the device where there is one.
  cleave::rt::Collectives &group(int index) {
    return device ? device->group(index) : transport->group(index);
  }

  cleave::rt::Transport *const transport;
  /// Where the program runs; null: on the CPU.
  std::unique_ptr<cleave::rt::Device> device;
  const int threads;
  std::vector<std::unique_ptr<cleave::rt::LibraryOp>> slots;
  std::unique_ptr<cleave::rt::DnnlState> dnnl;
  std::unique_ptr<cleave::rt::Trace> trace;

private:
  struct Route {
    std::vector<int> to;
    std::vector<int> from;
  };
  std::optional<cleave::rt::Failure> error;
  std::vector<Route> routes;
  struct Constant {
    const std::byte *begin;
    size_t bytes;
    bool isMapped; ///< pages of a file
  };
  const Constant *findConstant(const void *address) const;
  std::vector<Constant> constants;
  cleave::rt::AlignedBuffer scratch;
};

namespace cleave::rt {

/// Runs the body of an ABI function: not at all after an error, and an
/// exception becomes the error of the step.
template <typename Body> void guarded(CleaveContext *context, Body &&body) {
  if (context->failed())
    return;
  try {
    body();
  } catch (const Failure &failure) {
    context->setError(failure);
  } catch (const std::exception &exception) {
    context->setError(Failure(ExitDevice, exception.what()));
  }
}

} // namespace cleave::rt

#endif
