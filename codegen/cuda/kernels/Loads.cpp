//===- Loads.cpp - say how wide a kernel's loads are ----------------------===//
//
// From the ops that were written, before they become instructions: a vector is
// loaded in pieces of as many bytes as its address is known to be a multiple
// of, 16 at most; masked lanes and gathered elements are loaded one by one.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Loads.h"

#include <climits>
#include <numeric>

using namespace cleave;
using namespace mlir;

/// That an instruction loads.
static constexpr int64_t MostBytes = 16;

/// Elements that a load names.
static int64_t getCount(LLVM::LoadOp load) {
  auto type = dyn_cast<VectorType>(load.getType());
  return type ? type.getNumElements() : 1;
}

/// Bytes of several elements that a load fetches at once; 0 where it does not.
static int64_t getLoadBytes(LLVM::LoadOp load) {
  if (getCount(load) == 1)
    return 0;
  auto type = cast<VectorType>(load.getType());
  int64_t element = type.getElementTypeBitWidth() / CHAR_BIT;
  int64_t aligned = std::gcd(MostBytes, load.getAlignment().value_or(1));
  int64_t atOnce = std::gcd(type.getNumElements() * element, aligned);
  return atOnce > element ? atOnce : 0;
}

bool cuda::hasWideLoads(LLVM::LLVMFuncOp function) {
  constexpr int64_t WideBytes = 8;
  return function
      .walk([](LLVM::LoadOp load) {
        return getLoadBytes(load) >= WideBytes ? WalkResult::interrupt()
                                               : WalkResult::advance();
      })
      .wasInterrupted();
}

StringRef cuda::explainNarrowLoads(LLVM::LLVMFuncOp function) {
  if (hasWideLoads(function))
    return "";
  bool hasMasks = false, hasGathers = false, hasWords = false;
  bool hasOther = false, hasSingle = false;
  function.walk([&](Operation *op) {
    hasMasks |= isa<LLVM::MaskedLoadOp>(op);
    hasGathers |= isa<LLVM::masked_gather>(op);
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      bool isAtOnce = getLoadBytes(load) > 0;
      hasWords |= isAtOnce;
      hasOther |= getCount(load) > 1 && !isAtOnce;
      hasSingle |= getCount(load) == 1;
    }
  });
  if (hasOther)
    return "rows of an operand are no whole vectors";
  if (hasMasks)
    return "vectors may cross the end of a part";
  if (hasGathers)
    return "elements lie apart";
  if (hasWords)
    return "vectors of bytes are one word";
  return hasSingle ? "an element is repeated" : "";
}
