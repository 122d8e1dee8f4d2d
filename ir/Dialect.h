//===- Dialect.h - the cleave dialect -------------------------------------===//
#ifndef CLEAVE_IR_DIALECT_H
#define CLEAVE_IR_DIALECT_H

#include "mlir/IR/Dialect.h"

#include "ir/Dialect.h.inc"

namespace cleave {
/// Names of the discardable attributes; see the dialect's description.
inline constexpr llvm::StringLiteral ShardingsAttrName = "cleave.shardings";
inline constexpr llvm::StringLiteral ShardingAttrName = "cleave.sharding";
inline constexpr llvm::StringLiteral NameAttrName = "cleave.name";
inline constexpr llvm::StringLiteral StageAttrName = "cleave.stage";
inline constexpr llvm::StringLiteral BufferAttrName = "cleave.buffer";
} // namespace cleave

#endif
