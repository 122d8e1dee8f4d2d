//===- LowerReshard.cpp - from one sharding to another by collectives -----===//
//
// A reshard on one mesh is done in this order, each step only where it applies:
//   take       dims that gain axes which nothing else uses: a local slice
//   reduce     partial sums: reduce_scatter where a dim gains just those axes,
//              all_reduce for the rest
//   exchange   axes that move from one dim to another: all_to_all
//   gather     dims that lose axes: all_gather, then a slice to the true size
//   take       dims that gain axes that a gather has set free
// Small tensors first: slices come before collectives. The axis "mb" is in
// time: a sum over micro-batches comes before that over ranks, which is then
// done once, and gathers over micro-batches and ranks are collectives of their
// own.
//
// Chunks must line up for a dim to gain or lose only its minor axes: 5 elements
// over 2 x 2 ranks have chunks of 2, over 2 ranks of 3, so [{"a"}] to [{"a",
// "b"}] is not a local slice there: the dim is gathered whole and cut anew.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/LocalBuilder.h"
#include "passes/partition/ValueSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace cleave;
using namespace mlir;

namespace {

using Axes = ArrayRef<StringAttr>;

/// What `longer` has beyond its prefix `shorter`; none if that is no prefix.
std::optional<Axes> getExtra(Axes shorter, Axes longer) {
  if (longer.size() < shorter.size() ||
      longer.take_front(shorter.size()) != shorter)
    return std::nullopt;
  return longer.drop_front(shorter.size());
}

/// The axis "mb" among `axes`; null if it is not there.
StringAttr findTime(Axes axes) {
  for (StringAttr axis : axes)
    if (axis.getValue() == MeshAttr::MicroBatchAxis)
      return axis;
  return {};
}

class Lowering {
public:
  Lowering(LocalBuilder &builder, Location loc, LocalTensor x,
           RankedTensorType type, ShardingAttr from, ShardingAttr to)
      : builder(builder), loc(loc), x(std::move(x)), type(type),
        mesh(builder.getMesh()), to(withoutUnitAxes(to, mesh)) {
    from = withoutUnitAxes(from, mesh);
    dims.assign(from.getDims().begin(), from.getDims().end());
    partial.assign(from.getPartialAxes().begin(), from.getPartialAxes().end());
    kind = from.getPartialKind();
  }

  LocalTensor run() {
    takeFree();
    reduce();
    exchange();
    gather();
    takeFree();
    return x;
  }

private:
  int64_t getParts(Axes axes) const {
    int64_t parts = 1;
    for (StringAttr axis : axes)
      parts *= mesh.getAxisSize(axis.getValue());
    return parts;
  }
  int64_t getChunkOf(int64_t dim, DimShardingAttr sharding) const {
    return getChunk(type.getDimSize(dim), sharding.getBlock(),
                    getParts(sharding.getAxes()));
  }
  bool isFree(StringAttr axis) const {
    return !llvm::is_contained(partial, axis) &&
           llvm::none_of(dims, [&](DimShardingAttr dim) {
             return llvm::is_contained(dim.getAxes(), axis);
           });
  }
  bool isDone(int64_t dim) const {
    return dims[dim].getAxes() == to.getDims()[dim].getAxes() &&
           getChunkOf(dim, dims[dim]) == getChunkOf(dim, to.getDims()[dim]);
  }
  std::optional<Axes> getGained(int64_t dim) const;
  std::optional<Axes> getLost(int64_t dim) const;
  RankedTensorType getTypeWith(int64_t dim, int64_t size) const;
  ArrayAttr getAxesAttr(Axes axes);
  void takeFree();
  void reduce();
  void allReduce(Axes axes);
  void dropPartial(Axes axes);
  void reduceScatter(int64_t dim, Axes axes);
  void exchange();
  void allToAll(int64_t fromDim, int64_t toDim);
  void gather();
  void allGather(int64_t dim, Axes axes);
  void joinShards(int64_t dim, Axes axes);

  LocalBuilder &builder;
  Location loc;
  LocalTensor x;
  RankedTensorType type;
  MeshAttr mesh;
  ShardingAttr to;
  SmallVector<DimShardingAttr> dims; ///< of x now
  SmallVector<StringAttr> partial;   ///< of x now
  ReduceKind kind;
};

RankedTensorType Lowering::getTypeWith(int64_t dim, int64_t size) const {
  auto local = cast<RankedTensorType>(x.value.getType());
  SmallVector<int64_t> shape(local.getShape());
  shape[dim] = size;
  return local.clone(shape);
}

ArrayAttr Lowering::getAxesAttr(Axes axes) {
  return builder.get().getArrayAttr(
      SmallVector<Attribute>(axes.begin(), axes.end()));
}

/// Minor axes that the dim still has to gain, if a local slice can do that.
std::optional<Axes> Lowering::getGained(int64_t dim) const {
  DimShardingAttr from = dims[dim], target = to.getDims()[dim];
  std::optional<Axes> extra = getExtra(from.getAxes(), target.getAxes());
  if (!extra || extra->empty())
    return std::nullopt;
  if (!from.getAxes().empty() &&
      getChunkOf(dim, from) != getParts(*extra) * getChunkOf(dim, target))
    return std::nullopt;
  return extra;
}

/// Minor axes that the dim still has to lose, if a gather over them does that.
std::optional<Axes> Lowering::getLost(int64_t dim) const {
  DimShardingAttr from = dims[dim], target = to.getDims()[dim];
  std::optional<Axes> extra = getExtra(target.getAxes(), from.getAxes());
  if (!extra || extra->empty())
    return std::nullopt;
  if (!target.getAxes().empty() &&
      getChunkOf(dim, target) != getParts(*extra) * getChunkOf(dim, from))
    return std::nullopt;
  return extra;
}

void Lowering::takeFree() {
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::optional<Axes> gained = getGained(dim);
    if (!gained ||
        !llvm::all_of(*gained, [&](StringAttr axis) { return isFree(axis); }))
      continue;
    int64_t chunk = getChunkOf(dim, to.getDims()[dim]);
    Value index = builder.getAxisIndex(*gained);
    x.value = builder.get().create<TakeShardOp>(
        loc, getTypeWith(dim, chunk), x.value, index,
        builder.get().getI64IntegerAttr(dim));
    if (dims[dim].getAxes().empty())
      x.facts.dims[dim] = Padding::Zero;
    dims[dim] = to.getDims()[dim];
  }
}

void Lowering::reduce() {
  llvm::erase_if(partial,
                 [&](StringAttr axis) { return to.isPartialOver(axis); });
  StringAttr time = findTime(partial);
  if (time)
    allReduce(time);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    std::optional<Axes> gained = getGained(dim);
    if (gained && llvm::all_of(*gained, [&](StringAttr axis) {
          return llvm::is_contained(partial, axis);
        }))
      reduceScatter(dim, *gained);
  }
  if (!partial.empty())
    allReduce(SmallVector<StringAttr>(partial));
}

void Lowering::allReduce(Axes axes) {
  x.value = builder.get().create<AllReduceOp>(
      loc, x.value.getType(), kind, x.value, builder.getMeshName().getValue(),
      getAxesAttr(axes));
  dropPartial(axes);
}

void Lowering::dropPartial(Axes axes) {
  llvm::erase_if(
      partial, [&](StringAttr axis) { return llvm::is_contained(axes, axis); });
}

void Lowering::reduceScatter(int64_t dim, Axes axes) {
  int64_t chunk = getChunkOf(dim, to.getDims()[dim]);
  double neutral = getNeutralValue(kind, type.getElementType());
  Value padded =
      builder.resizeEnd(loc, x.value, dim, chunk * getParts(axes), neutral);
  x.value = builder.get().create<ReduceScatterOp>(
      loc, getTypeWith(dim, chunk), kind, padded, dim,
      builder.getMeshName().getValue(), getAxesAttr(axes));
  if (dims[dim].getAxes().empty())
    x.facts.dims[dim] =
        kind == ReduceKind::Sum ? Padding::Zero : Padding::Unknown;
  dims[dim] = to.getDims()[dim];
  dropPartial(axes);
}

void Lowering::exchange() {
  for (int64_t from = 0; from < type.getRank(); ++from)
    for (int64_t into = 0; into < type.getRank(); ++into) {
      Axes axes = dims[from].getAxes();
      if (!axes.empty() && !findTime(axes) &&
          to.getDims()[from].getAxes().empty() &&
          dims[into].getAxes().empty() && to.getDims()[into].getAxes() == axes)
        allToAll(from, into);
    }
}

/// Moves the split from dim i (chunks c of n elements) to dim j (whole, m),
/// over k ranks, chunks d of m:
///   [.. c .. m ..] -pad-> k d -reshape-> [.. c .. k, d ..] -transpose->
///   [k, .. c .. d ..] -all_to_all-> -transpose-> [.. k, c .. d ..] -reshape->
///   [.. k c .. d ..] -slice-> [.. n .. d ..]
void Lowering::allToAll(int64_t fromDim, int64_t toDim) {
  OpBuilder &b = builder.get();
  int64_t parts = getParts(dims[fromDim].getAxes());
  int64_t chunk = getChunkOf(toDim, to.getDims()[toDim]);
  Value padded = builder.resizeEnd(loc, x.value, toDim, parts * chunk, 0.0);
  auto paddedType = cast<RankedTensorType>(padded.getType());
  int64_t rank = paddedType.getRank();

  SmallVector<int64_t> shape(paddedType.getShape());
  shape[toDim] = chunk;
  shape.insert(shape.begin() + toDim, parts);
  Value cut = b.create<ReshapeOp>(loc, paddedType.clone(shape), padded);
  SmallVector<int64_t> perm{toDim};
  for (int64_t dim = 0; dim <= rank; ++dim)
    if (dim != toDim)
      perm.push_back(dim);
  Value front = b.create<TransposeOp>(loc, cut, perm);
  Value moved = b.create<AllToAllOp>(loc, front.getType(), front,
                                     builder.getMeshName().getValue(),
                                     getAxesAttr(dims[fromDim].getAxes()));
  SmallVector<int64_t> back;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (dim == fromDim)
      back.push_back(0);
    back.push_back(dim + 1);
  }
  Value placed = b.create<TransposeOp>(loc, moved, back);
  SmallVector<int64_t> whole(paddedType.getShape());
  whole[toDim] = chunk;
  whole[fromDim] *= parts;
  Value joined = b.create<ReshapeOp>(loc, paddedType.clone(whole), placed);
  x.value =
      builder.resizeEnd(loc, joined, fromDim, type.getDimSize(fromDim), 0.0);
  x.facts.dims[fromDim] = x.facts.dims[toDim] = Padding::Zero;
  std::swap(dims[fromDim], dims[toDim]);
  dims[toDim] = to.getDims()[toDim];
}

void Lowering::gather() {
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (isDone(dim) || dims[dim].getAxes().empty() || getGained(dim))
      continue;
    std::optional<Axes> lost = getLost(dim);
    allGather(dim, lost ? *lost : dims[dim].getAxes());
  }
}

/// Joins the shards of the dim over its minor axes `axes`, the most minor
/// first; when those are all, the padding at the end is cut off.
void Lowering::allGather(int64_t dim, Axes axes) {
  bool isWhole = axes.size() == dims[dim].getAxes().size();
  if (StringAttr time = findTime(axes)) {
    const auto *position = llvm::find(axes, time);
    joinShards(dim, Axes(position + 1, axes.end()));
    joinShards(dim, time);
    joinShards(dim, Axes(axes.begin(), position));
  } else {
    joinShards(dim, axes);
  }
  if (!isWhole) {
    dims[dim] = to.getDims()[dim];
    return;
  }
  x.value = builder.resizeEnd(loc, x.value, dim, type.getDimSize(dim), 0.0);
  x.facts.dims[dim] = Padding::Zero;
  dims[dim] = DimShardingAttr::get(type.getContext(), {}, 1);
}

void Lowering::joinShards(int64_t dim, Axes axes) {
  if (axes.empty())
    return;
  int64_t chunk = cast<RankedTensorType>(x.value.getType()).getDimSize(dim);
  x.value = builder.get().create<AllGatherOp>(
      loc, getTypeWith(dim, chunk * getParts(axes)), x.value, dim,
      builder.getMeshName().getValue(), getAxesAttr(axes));
}

} // namespace

LocalTensor LocalBuilder::reshard(Location loc, LocalTensor x,
                                  RankedTensorType type, ShardingAttr from,
                                  ShardingAttr to) {
  return Lowering(*this, loc, std::move(x), type, from, to).run();
}
