//===- CostModel.cpp - predicted times of ops and collectives -------------===//

#include "passes/cost/CostModel.h"

#include "mlir/IR/BuiltinTypes.h"

#include <limits>

using namespace cleave;
using namespace mlir;

//===-- Collectives: see the table in CostModel.h -------------------------===//

double cleave::getAllGatherTime(const AxisLink &axis, double bytes) {
  double n = axis.size;
  return (n - 1) * axis.latency + (n - 1) / n * bytes / axis.bandwidth;
}

double cleave::getReduceScatterTime(const AxisLink &axis, double bytes) {
  return getAllGatherTime(axis, bytes);
}

double cleave::getAllReduceTime(const AxisLink &axis, double bytes) {
  return getReduceScatterTime(axis, bytes) + getAllGatherTime(axis, bytes);
}

double cleave::getAllToAllTime(const AxisLink &axis, double bytes) {
  return getAllGatherTime(axis, bytes);
}

double cleave::getSendTime(const Link &link, double bytes) {
  return link.latency + bytes / link.bandwidth;
}

std::optional<Link> cleave::fitLink(int64_t ranks, const LinkSample &small,
                                    const LinkSample &large) {
  constexpr double kLeast = 1e-9; // latency in seconds: a file needs some
  double n = ranks, share = 2 * (n - 1) / n;
  double perByte =
      (large.seconds - small.seconds) / (share * (large.bytes - small.bytes));
  if (!(perByte > 0))
    return std::nullopt;
  double latency =
      (small.seconds - share * small.bytes * perByte) / (2 * (n - 1) + 1);
  return Link{"", std::max(latency, kLeast), 1 / perByte};
}

//===-- Tensors -----------------------------------------------------------===//

double LocalTensor::getBytes() const {
  double bytes = elementBytes;
  for (int64_t size : shape)
    bytes *= size;
  return bytes;
}

double LocalTensor::getBytes(const AxisState &state, int64_t parts) const {
  if (state.kind != AxisState::Split || shape[state.dim] == 0)
    return getBytes();
  int64_t size = shape[state.dim];
  return getBytes() / size * getChunk(size, state.block, parts);
}

bool cleave::isSameLayout(const AxisState &a, const AxisState &b,
                          ArrayRef<int64_t> shape, int64_t parts) {
  if (a == b)
    return true;
  if (a.kind != AxisState::Split || b.kind != AxisState::Split ||
      a.dim != b.dim)
    return false;
  int64_t size = shape[a.dim];
  return getChunk(size, a.block, parts) == getChunk(size, b.block, parts);
}

//===-- Ops ---------------------------------------------------------------===//

CostModel::CostModel(const Cluster &cluster) : cluster(cluster) {
  bandwidth = scattered = std::numeric_limits<double>::infinity();
  for (const NodeGroup &group : cluster.nodes) {
    const Device &device = cluster.devices[group.device];
    bandwidth = std::min(bandwidth, device.bandwidth);
    scattered = std::min(scattered, device.scattered ? device.scattered
                                                     : device.bandwidth);
    for (const auto &[precision, figure] : device.peak) {
      auto [it, isNew] = peak.try_emplace(precision, figure);
      it->second = std::min(it->second, figure);
    }
    double own = device.vector ? device.vector : device.peak.at("fp32");
    vector = vector == 0 ? own : std::min(vector, own);
    call = std::max(call, device.call);
    bool isFirst = &group == &cluster.nodes.front();
    cache = isFirst ? device.cache : std::min(cache, device.cache);
    cacheBandwidth = isFirst ? device.cacheBandwidth
                             : std::min(cacheBandwidth, device.cacheBandwidth);
  }
}

static bool isFree(const Work &work) {
  return work.flops == 0 && work.bytesRead == 0 && work.bytesWritten == 0;
}

/// Bytes of memory behind a value: views add and leave out elements.
static double getReadBytes(Value value) {
  double bytes = getByteSize(value.getType());
  Operation *op = value.getDefiningOp();
  auto view = dyn_cast_or_null<WorkOpInterface>(op);
  if (!view || op->getNumOperands() != 1 || !isFree(view.getWork()))
    return bytes;
  return std::min(bytes, getReadBytes(op->getOperand(0)));
}

Work cleave::getFusedWork(Operation *op) {
  Work work = cast<WorkOpInterface>(op).getWork();
  double whole = 0, read = 0, largest = 0;
  for (Value operand : op->getOperands()) {
    double bytes = getReadBytes(operand);
    whole += getByteSize(operand.getType());
    read += bytes;
    largest = std::max(largest, bytes);
  }
  bool isFused = op->hasTrait<OpTrait::Elementwise>() && whole > 0;
  if (isFused)
    work.bytesWritten = 0;
  if (whole > 0)
    work.bytesRead *= (isFused ? read - largest : read) / whole;
  return work;
}

/// Precisions as the cluster names them; what it does not list runs as fp32.
static std::string getPrecision(Type type) {
  if (type.isF64())
    return "fp64";
  if (type.isF16())
    return "fp16";
  if (type.isBF16())
    return "bf16";
  if (type.isInteger(8))
    return "int8";
  return "fp32";
}

/// A row that is read alone takes as long as one of 256 bytes, with which
/// devices are measured; what is read is written, too.
double CostModel::getMoveTime(const Work &work) const {
  constexpr double kRowBytes = 256;
  double bytes = work.bytesRead + work.bytesWritten;
  if (work.scatteredOver > cache)
    return std::max(bytes, 2 * kRowBytes * work.scatteredRows) / scattered;
  bool isCached = !work.isProduct && bytes <= cache;
  return bytes / (isCached ? cacheBandwidth : bandwidth);
}

double CostModel::getOpTime(const Work &work, Type elementType) const {
  auto it = peak.find(getPrecision(elementType));
  double product = it == peak.end() ? peak.at("fp32") : it->second;
  double start = work.bytesWritten > 0 ? call : 0;
  return start + std::max(work.flops / (work.isProduct ? product : vector),
                          getMoveTime(work));
}

//===-- Axes and conversions ----------------------------------------------===//

AxisLink CostModel::getAxisLink(MeshAttr mesh, StringRef name) const {
  int64_t position = mesh.getAxisPosition(name);
  AxisLink link{mesh.getAxisSize(name), 0,
                std::numeric_limits<double>::infinity()};
  // Ranks along the axis: coordinates that differ at its position only.
  int64_t stride = 1;
  for (MeshAxisAttr axis : mesh.getAxes().drop_front(position + 1))
    stride *= axis.getSize();
  for (int64_t first = 0; first < mesh.getSize(); ++first) {
    if (mesh.getCoords(first)[position] != 0)
      continue;
    SmallVector<int64_t> group;
    for (int64_t i = 0; i < link.size; ++i)
      group.push_back(mesh.getRanks()[first + i * stride]);
    const Link &bound = cluster.getLinkBetween(group);
    link.latency = std::max(link.latency, bound.latency);
    link.bandwidth = std::min(link.bandwidth, bound.bandwidth);
  }
  return link;
}

Link CostModel::getMeshLink(MeshAttr from, MeshAttr to) const {
  Link slowest{"", 0, std::numeric_limits<double>::infinity()};
  for (auto [a, b] : llvm::zip(from.getRanks(), to.getRanks())) {
    const Link &link = cluster.getLinkBetween({a, b});
    slowest.latency = std::max(slowest.latency, link.latency);
    slowest.bandwidth = std::min(slowest.bandwidth, link.bandwidth);
  }
  return slowest;
}

/// Chunks that are not one piece of memory each, or that padding makes unequal,
/// are copied into or out of a packed buffer.
double CostModel::getPackTime(const AxisState &state, const LocalTensor &tensor,
                              int64_t parts) const {
  int64_t outer = 1;
  for (int64_t size : ArrayRef<int64_t>(tensor.shape).take_front(state.dim))
    outer *= size;
  int64_t size = tensor.shape[state.dim];
  bool isEven = getChunk(size, state.block, parts) * parts == size;
  if (outer == 1 && isEven)
    return 0;
  return getCopyTime(tensor.getBytes(state, parts) * parts);
}

double CostModel::getCollectiveTime(const AxisState &from, const AxisState &to,
                                    const LocalTensor &tensor,
                                    const AxisLink &axis) const {
  int64_t parts = axis.size;
  bool isWhole = to.kind == AxisState::Replicated;
  double shard = tensor.getBytes(isWhole ? from : to, parts);
  if (from.kind == AxisState::Partial)
    return isWhole ? getAllReduceTime(axis, tensor.getBytes())
                   : getReduceScatterTime(axis, shard * parts) +
                         getPackTime(to, tensor, parts);
  if (isWhole)
    return getAllGatherTime(axis, shard * parts) +
           getPackTime(from, tensor, parts);
  // Parts of either dim are packed before and unpacked after the exchange.
  double largest = std::max(shard, tensor.getBytes(from, parts));
  return getAllToAllTime(axis, largest) + 2 * getCopyTime(largest);
}

double CostModel::getConversionTime(const AxisState &from, const AxisState &to,
                                    const LocalTensor &tensor,
                                    const AxisLink &axis) const {
  if (isSameLayout(from, to, tensor.shape, axis.size))
    return 0;
  if (to.kind == AxisState::Partial)
    return std::numeric_limits<double>::infinity();
  if (from.kind == AxisState::Replicated)
    return getCopyTime(tensor.getBytes(to, axis.size));
  return axis.latency + getCollectiveTime(from, to, tensor, axis);
}
