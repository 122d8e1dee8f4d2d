//===- Derivatives.h - derivatives of the elementwise kinds ---------------===//
//
// For the rows of the tables. y is the kind's value, dy the gradient of it. A
// null value is a gradient that is 0 everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_IR_DERIVATIVES_H
#define CLEAVE_IR_DERIVATIVES_H

#include "ir/LogicalBuilder.h"

namespace cleave {

/// dx.
using UnaryGradient = mlir::Value(LogicalBuilder &, mlir::Value x,
                                  mlir::Value y, mlir::Value dy);
/// The gradient of operand `index`, 0 or 1.
using BinaryGradient = mlir::Value(LogicalBuilder &, int index, mlir::Value lhs,
                                   mlir::Value rhs, mlir::Value y,
                                   mlir::Value dy);

namespace derivative {
UnaryGradient neg, abs, exp, log, sqrt, rsqrt, reciprocal, tanh, sigmoid, relu,
    erf, geluErf, geluTanh, silu, sin, cos, tan, asin, acos, atan, sinh, cosh,
    asinh, acosh, atanh;
/// Of steps: floor, ceil, round.
UnaryGradient zero;
BinaryGradient add, sub, mul, div, pow, max, min, mod;
} // namespace derivative

} // namespace cleave

#endif
