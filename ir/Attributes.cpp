//===- Attributes.cpp - print, parse and check meshes and shardings -------===//

#include "ir/Attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace cleave;
using namespace mlir;

#include "ir/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Attributes.cpp.inc"

void CleaveDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/Attributes.cpp.inc"
      >();
}

//===-- Mesh --------------------------------------------------------------===//

/// `"dp"=2`.
static ParseResult parseMeshAxis(AsmParser &parser,
                                 SmallVectorImpl<MeshAxisAttr> &axes) {
  std::string name;
  int64_t size;
  if (parser.parseString(&name) || parser.parseEqual() ||
      parser.parseInteger(size))
    return failure();
  axes.push_back(MeshAxisAttr::get(parser.getContext(), name, size));
  return success();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<MeshAxisAttr> axes;
  SmallVector<int64_t> ranks;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parseMeshAxis(parser, axes); }) ||
      parser.parseComma() || parser.parseKeyword("ranks") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(ranks.emplace_back());
      }))
    return {};
  int64_t microBatches = 1;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("micro_batches") || parser.parseEqual() ||
       parser.parseInteger(microBatches)))
    return {};
  if (parser.parseGreater())
    return {};
  return MeshAttr::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), axes, ranks, microBatches);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(getAxes(), printer, [&](MeshAxisAttr axis) {
    printer << '"' << axis.getName() << "\"=" << axis.getSize();
  });
  printer << "], ranks = [";
  llvm::interleaveComma(getRanks(), printer);
  printer << ']';
  if (getMicroBatches() != 1)
    printer << ", micro_batches = " << getMicroBatches();
  printer << '>';
}

LogicalResult MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emit,
                               ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> ranks, int64_t microBatches) {
  if (microBatches < 1)
    return emit() << "mesh needs at least one micro-batch, found "
                  << microBatches;
  int64_t size = 1;
  llvm::SmallSet<StringRef, 4> names;
  names.insert(MicroBatchAxis);
  for (MeshAxisAttr axis : axes) {
    if (axis.getName().empty() || !names.insert(axis.getName()).second)
      return emit() << "mesh axis names must be unique, not empty and not "
                       "\"mb\", found \""
                    << axis.getName() << "\"";
    if (axis.getSize() <= 0)
      return emit() << "mesh axis \"" << axis.getName()
                    << "\" needs a positive size, found " << axis.getSize();
    size *= axis.getSize();
  }
  if (size != static_cast<int64_t>(ranks.size()))
    return emit() << "mesh of " << size << " coordinates lists " << ranks.size()
                  << " ranks";
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t rank : ranks)
    if (rank < 0 || !seen.insert(rank).second)
      return emit() << "mesh ranks must be unique and not negative, found "
                    << rank;
  return success();
}

int64_t MeshAttr::getAxisPosition(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(getAxes()))
    if (axis.getName() == name)
      return i;
  return -1;
}

int64_t MeshAttr::getAxisSize(StringRef name) const {
  if (name == MicroBatchAxis)
    return getMicroBatches();
  int64_t position = getAxisPosition(name);
  return position < 0 ? 0 : getAxes()[position].getSize();
}

SmallVector<int64_t> MeshAttr::getCoords(int64_t position) const {
  SmallVector<int64_t> coords(getAxes().size());
  for (int64_t i = coords.size() - 1; i >= 0; --i) {
    coords[i] = position % getAxes()[i].getSize();
    position /= getAxes()[i].getSize();
  }
  return coords;
}

//===-- Sharding ----------------------------------------------------------===//

static void printAxes(AsmPrinter &printer, ArrayRef<StringAttr> axes) {
  printer << '{';
  llvm::interleaveComma(axes, printer, [&](StringAttr axis) {
    printer << '"' << axis.getValue() << '"';
  });
  printer << '}';
}

static ParseResult parseAxes(AsmParser &parser,
                             SmallVectorImpl<StringAttr> &axes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&] {
    std::string name;
    if (parser.parseString(&name))
      return failure();
    axes.push_back(StringAttr::get(parser.getContext(), name));
    return success();
  });
}

Attribute DimShardingAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  int64_t block = 1;
  if (parseAxes(parser, axes))
    return {};
  if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(block))
    return {};
  return DimShardingAttr::get(parser.getContext(), axes, block);
}

void DimShardingAttr::print(AsmPrinter &printer) const {
  printAxes(printer, getAxes());
  if (getBlock() != 1)
    printer << ':' << getBlock();
}

/// `, partial<sum, {"tp"}>`, if it is there.
static ParseResult parsePartial(AsmParser &parser, ReduceKind &kind,
                                SmallVectorImpl<StringAttr> &axes) {
  if (failed(parser.parseOptionalComma()))
    return success();
  StringRef keyword;
  SMLoc loc;
  if (parser.parseKeyword("partial") || parser.parseLess() ||
      parser.getCurrentLocation(&loc) || parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReduceKind> parsed = symbolizeReduceKind(keyword);
  if (!parsed)
    return parser.emitError(loc) << "unknown reduction '" << keyword << "'";
  kind = *parsed;
  return failure(parser.parseComma() || parseAxes(parser, axes) ||
                 parser.parseGreater());
}

Attribute ShardingAttr::parse(AsmParser &parser, Type) {
  FlatSymbolRefAttr mesh;
  SmallVector<DimShardingAttr> dims;
  ReduceKind kind = ReduceKind::Sum;
  SmallVector<StringAttr> partialAxes;
  auto parseDim = [&]() -> ParseResult {
    auto dim = llvm::dyn_cast_or_null<DimShardingAttr>(
        DimShardingAttr::parse(parser, {}));
    if (!dim)
      return failure();
    dims.push_back(dim);
    return success();
  };
  if (parser.parseLess() || parser.parseAttribute(mesh) ||
      parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parsePartial(parser, kind, partialAxes) || parser.parseGreater())
    return {};
  return ShardingAttr::get(parser.getContext(), mesh, dims, kind, partialAxes);
}

void ShardingAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMesh() << ", [";
  llvm::interleaveComma(getDims(), printer,
                        [&](DimShardingAttr dim) { dim.print(printer); });
  printer << ']';
  if (isPartial()) {
    printer << ", partial<" << stringifyReduceKind(getPartialKind()) << ", ";
    printAxes(printer, getPartialAxes());
    printer << '>';
  }
  printer << '>';
}

ShardingAttr ShardingAttr::getReplicated(FlatSymbolRefAttr mesh, int64_t rank) {
  MLIRContext *context = mesh.getContext();
  SmallVector<DimShardingAttr> dims(rank, DimShardingAttr::get(context, {}, 1));
  return get(context, mesh, dims, ReduceKind::Sum, {});
}

bool ShardingAttr::isReplicated() const {
  return !isPartial() && llvm::all_of(getDims(), [](DimShardingAttr dim) {
    return dim.getAxes().empty();
  });
}

int64_t ShardingAttr::getDimOf(StringAttr axis) const {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    if (llvm::is_contained(dim.getAxes(), axis))
      return i;
  return -1;
}

bool ShardingAttr::isPartialOver(StringAttr axis) const {
  return llvm::is_contained(getPartialAxes(), axis);
}

ShardingAttr ShardingAttr::withoutPartial() const {
  return get(getContext(), getMesh(), getDims(), ReduceKind::Sum, {});
}

//===-- Buffers and loops -------------------------------------------------===//

Attribute BufferAttr::parse(AsmParser &parser, Type) {
  StringRef keyword;
  SMLoc loc;
  int64_t index, offset, slots = 1, slotBytes = 0;
  SmallVector<int64_t> strides;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) ||
      parser.parseKeyword(&keyword))
    return {};
  std::optional<BufferSpace> space = symbolizeBufferSpace(keyword);
  if (!space)
    return parser.emitError(loc) << "unknown space '" << keyword << "'",
           Attribute();
  if (parser.parseInteger(index) || parser.parseComma() ||
      parser.parseInteger(offset) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(strides.emplace_back());
      }))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("ring") || parser.parseEqual() ||
       parser.parseInteger(slots) || parser.parseKeyword("x") ||
       parser.parseInteger(slotBytes)))
    return {};
  if (parser.parseGreater())
    return {};
  return BufferAttr::get(parser.getContext(), *space, index, offset, strides,
                         slots, slotBytes);
}

void BufferAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyBufferSpace(getSpace()) << ' ' << getIndex()
          << ", " << getOffset() << ", [";
  llvm::interleaveComma(getStrides(), printer);
  printer << ']';
  if (getSlots() != 1)
    printer << ", ring = " << getSlots() << " x " << getSlotBytes();
  printer << '>';
}

Attribute LoopAttr::parse(AsmParser &parser, Type) {
  int64_t count;
  SmallVector<ChunkCallAttr> calls;
  auto parseCall = [&]() -> ParseResult {
    std::string chunk;
    int64_t first;
    if (parser.parseString(&chunk) || parser.parseInteger(first))
      return failure();
    calls.push_back(ChunkCallAttr::get(parser.getContext(), chunk, first));
    return success();
  };
  if (parser.parseLess() || parser.parseInteger(count) ||
      parser.parseKeyword("x") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseCall) ||
      parser.parseGreater())
    return {};
  return LoopAttr::get(parser.getContext(), count, calls);
}

void LoopAttr::print(AsmPrinter &printer) const {
  printer << '<' << getCount() << " x [";
  llvm::interleaveComma(getCalls(), printer, [&](ChunkCallAttr call) {
    printer << '"' << call.getChunk() << "\" " << call.getFirst();
  });
  printer << "]>";
}

//===-- Local shapes ------------------------------------------------------===//

int64_t cleave::getChunk(int64_t size, int64_t block, int64_t parts) {
  return llvm::divideCeil(size / block, parts) * block;
}

int64_t cleave::getParts(ShardingAttr sharding, MeshAttr mesh, int64_t dim) {
  int64_t parts = 1;
  for (StringAttr axis : sharding.getDims()[dim].getAxes())
    parts *= mesh.getAxisSize(axis.getValue());
  return parts;
}

RankedTensorType cleave::getLocalType(RankedTensorType type,
                                      ShardingAttr sharding, MeshAttr mesh) {
  SmallVector<int64_t> shape(type.getShape());
  for (auto [i, dim] : llvm::enumerate(sharding.getDims()))
    shape[i] = getChunk(shape[i], dim.getBlock(), getParts(sharding, mesh, i));
  return type.clone(shape);
}
