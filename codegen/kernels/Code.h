//===- Code.h - write loops, vector arithmetic and memory accesses --------===//
//
// A thin layer over OpBuilder for kernel code. Index arithmetic is i64 and
// folded where it is constant; vectors have one dim. A mask is a vector of i1
// or null, which means all lanes.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_CODEGEN_KERNELS_CODE_H
#define CLEAVE_CODEGEN_KERNELS_CODE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace cleave {

/// Lanes of a vector: 16 floats are one 512-bit register.
inline constexpr int64_t Lanes = 16;

/// Type in which an element is computed: f32 for f16 and bf16, signless
/// integers.
mlir::Type getComputeType(mlir::Type element);
/// Type in which an element lies in memory: i8 for i1, signless integers.
mlir::Type getMemoryType(mlir::Type element);
/// Bytes of an element in memory.
int64_t getMemoryBytes(mlir::Type element);

class Code {
public:
  Code(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  //===-- Index arithmetic --------------------------------------------------//
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, index(y)); }
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y) { return mul(x, index(y)); }
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  mlir::Value max(mlir::Value x, mlir::Value y);
  mlir::Value less(mlir::Value x, mlir::Value y);
  mlir::Value differ(mlir::Value x, mlir::Value y);

  //===-- Control -----------------------------------------------------------//
  using Values = llvm::SmallVector<mlir::Value>;
  /// for (i = from; i < to; i += step); carries `init` through the body.
  Values loop(mlir::Value from, mlir::Value to, int64_t step,
              mlir::ValueRange init,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  void loop(mlir::Value from, mlir::Value to, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);

  //===-- Vectors -----------------------------------------------------------//
  mlir::VectorType vectorOf(mlir::Type element, int64_t lanes = Lanes);
  /// A constant of the (scalar or vector) type, every lane `value`.
  mlir::Value constant(mlir::Type type, double value);
  mlir::Value constant(mlir::Type type, mlir::TypedAttr scalar);
  mlir::Value splat(mlir::Value scalar, int64_t lanes = Lanes);
  mlir::Value extract(mlir::Value vector, int64_t lane);
  mlir::Value insert(mlir::Value scalar, mlir::Value vector, int64_t lane);
  /// 0, 1, 2, ... as i64.
  mlir::Value laneNumbers(int64_t lanes = Lanes);
  /// Lanes l with l < count.
  mlir::Value laneMask(mlir::Value count, int64_t lanes = Lanes);
  /// Conjunction of masks; null is all lanes.
  mlir::Value both(mlir::Value mask, mlir::Value other);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// The larger one, without the care for NaN that std::fmax takes.
  mlir::Value larger(mlir::Value x, mlir::Value y);
  /// Combines the lanes pairwise: lane l with l + lanes / 2, and so on.
  mlir::Value combineLanes(
      mlir::Value vector,
      llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Transposes 16 vectors of 16 lanes.
  void transpose(Values &rows);
  /// exp(x) for f32 x <= 0 to 1 ulp; 0 below -87.
  mlir::Value expNegative(mlir::Value x);

  //===-- Memory ------------------------------------------------------------//
  mlir::Type pointerType();
  /// &base[offset]; offset in elements, a scalar or a vector.
  mlir::Value address(mlir::Value base, mlir::Type memory, mlir::Value offset);
  /// Loads lanes that lie `step` elements apart (0: one element for all lanes)
  /// and brings them to the compute type. Lanes outside of the mask are 0. The
  /// address is a multiple of `alignment` bytes; 0: of an element's.
  mlir::Value load(mlir::Value address, mlir::Type element, int64_t step,
                   mlir::Value mask, int64_t lanes = Lanes,
                   int64_t alignment = 0);
  /// Loads base[offsets[lane]].
  mlir::Value gather(mlir::Value base, mlir::Type element, mlir::Value offsets,
                     mlir::Value mask);
  mlir::Value loadScalar(mlir::Value address, mlir::Type element);
  /// The reverse of load; with step 0 lane 0 is stored.
  void store(mlir::Value value, mlir::Value address, mlir::Type element,
             int64_t step, mlir::Value mask, int64_t alignment = 0);
  void storeScalar(mlir::Value value, mlir::Value address, mlir::Type element);
  /// From memory type to compute type, and back (scalars or vectors).
  mlir::Value widen(mlir::Value value, mlir::Type element);
  mlir::Value narrow(mlir::Value value, mlir::Type element);
};

} // namespace cleave

#endif
