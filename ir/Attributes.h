//===- Attributes.h - meshes, shardings, weights, buffers -----------------===//
#ifndef CLEAVE_IR_ATTRIBUTES_H
#define CLEAVE_IR_ATTRIBUTES_H

#include "ir/Dialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include "ir/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Attributes.h.inc"

namespace cleave {

/// Chunk of a dim of `size` elements in blocks of `block`, over `parts` ranks:
/// ceil(size / block / parts) * block. Rank i holds [i * chunk, ...), clamped.
int64_t getChunk(int64_t size, int64_t block, int64_t parts);

/// Number of ranks over which dim `dim` is split.
int64_t getParts(ShardingAttr sharding, MeshAttr mesh, int64_t dim);

/// Local (padded) shape of a tensor under a sharding.
mlir::RankedTensorType getLocalType(mlir::RankedTensorType type,
                                    ShardingAttr sharding, MeshAttr mesh);

} // namespace cleave

#endif
