//===- ImportGather.cpp - operators that read by index --------------------===//
//
// All are the IR's `gather`. Where an index is per element, the dims that it
// shares with x are batch dims.
//
//===----------------------------------------------------------------------===//

#include "frontend/Indices.h"
#include "frontend/OperatorTable.h"

using namespace cleave;
using namespace mlir;

//===-- Gather ------------------------------------------------------------===//

/// Constant indices must be in range of the dim.
static LogicalResult verifyIndices(NodeContext &node, DenseElementsAttr indices,
                                   int64_t axis) {
  int64_t size = getShape(node.getOperand(0))[axis];
  for (const APInt &index : indices.getValues<APInt>())
    if (index.getSExtValue() < -size || index.getSExtValue() >= size)
      return node.emitError()
             << "index " << index.getSExtValue()
             << " of Gather is out of range "
             << "for axis " << axis << " of " << node.describe(0);
  return success();
}

/// One constant index is a slice, which costs nothing; the result has the dims
/// of the index in place of the axis.
static Value takeOne(NodeContext &node, Value x, int64_t axis, int64_t index,
                     ArrayRef<int64_t> indexShape) {
  index += index < 0 ? getShape(x)[axis] : 0;
  Shape shape(getShape(x));
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, indexShape.begin(), indexShape.end());
  return node.reshape(node.sliceDim(x, axis, index, 1), shape);
}

static LogicalResult importGather(NodeContext &node) {
  Value x = node.getOperand(0), indices = node.getOperand(1);
  if (!x || !indices)
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), getShape(x).size());
  if (failed(axis))
    return failure();
  DenseElementsAttr constant = getConstant(indices);
  if (constant && failed(verifyIndices(node, constant, *axis)))
    return failure();
  if (constant && constant.getNumElements() == 1)
    return node.setResults(
        takeOne(node, x, *axis, (*constant.value_begin<APInt>()).getSExtValue(),
                getShape(indices)));
  return node.setResults(node.gather(x, indices, *axis));
}

//===-- Several indices a slice -------------------------------------------===//

/// x[b..., i0, i1, ...] where indices[b..., ..., j] = ij.
static LogicalResult importGatherND(NodeContext &node) {
  int64_t batch = node.getInt("batch_dims", 0);
  FlatIndex flat = flattenDims(node, batch);
  return node.setResults(node.gather(flat.x, flat.position, batch, batch));
}

//===-- An index an element -----------------------------------------------===//

/// result[i, j, ...] = x[i, ..., indices[i, j, ...], ...] along the axis.
static LogicalResult importGatherElements(NodeContext &node) {
  FailureOr<int64_t> axis = getElementAxis(node);
  if (failed(axis))
    return failure();
  Value x = node.getOperand(0), indices = node.getOperand(1);
  Shape sizes(getShape(indices)), zeros(sizes.size(), 0), ones(sizes.size(), 1);
  sizes[*axis] = getShape(x)[*axis];
  return node.setResults(
      takeAlong(node, node.slice(x, zeros, sizes, ones), indices, *axis));
}

//===-- Top k, reversed sequences -----------------------------------------===//

/// k is an attribute in opset 1, then an operand.
static FailureOr<int64_t> getK(NodeContext &node) {
  if (node.hasAttribute("k"))
    return node.getInt("k", 0);
  FailureOr<double> k = node.getConstantScalar(1, "k");
  if (failed(k))
    return failure();
  return static_cast<int64_t>(*k);
}

static LogicalResult importTopK(NodeContext &node) {
  node.ignoreAttribute("sorted"); // Any order will do, so the sorted one.
  Value x = node.getOperand(0);
  FailureOr<int64_t> k = getK(node);
  bool isLeast = node.getInt("largest", 1) == 0;
  if (!x || failed(k))
    return failure();
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -1), getShape(x).size());
  if (failed(axis))
    return failure();
  if (*k < 0 || *k > getShape(x)[*axis])
    return node.emitError()
           << "the k of TopK is " << *k << ", axis " << *axis << " of "
           << node.describe(0) << " has " << getShape(x)[*axis] << " elements";
  Value indices = node.create<TopKOp>(nullptr, x, *axis, *k, isLeast);
  return node.setResults({takeAlong(node, x, indices, *axis), indices});
}

/// The first sequence_lens[b] elements of sequence b come in reverse order.
static LogicalResult importReverseSequence(NodeContext &node) {
  Value x = node.getOperand(0), lengths = node.getOperand(1);
  int64_t batch = node.getInt("batch_axis", 1),
          time = node.getInt("time_axis", 0);
  if (!x || !lengths)
    return failure();
  bool isKnown = (batch == 0 && time == 1) || (batch == 1 && time == 0);
  if (!isKnown || getShape(x).size() < 2 ||
      getShape(lengths) != getShape(x).slice(batch, 1))
    return node.emitError() << "ReverseSequence needs time and batch as axes 0 "
                               "and 1 and one length a sequence, found "
                            << node.describe(1) << " for " << node.describe(0);
  Shape perm = getIota(getShape(x).size());
  std::swap(perm[0], perm[batch]);
  x = node.transpose(x, perm);
  auto type =
      RankedTensorType::get(getShape(x).take_front(2), getElement(lengths));
  Value step = node.iota(type, 1);
  lengths = node.broadcast(lengths, type.getShape(), {0});
  Value mirrored = node.binary(
      BinaryKind::Sub, node.binary(BinaryKind::Sub, lengths, 1.0), step);
  Value index =
      node.select(node.compare(CompareKind::Lt, step, lengths), mirrored, step);
  return node.setResults(node.transpose(node.gather(x, index, 1, 1), perm));
}

//===-- Shapes that depend on values --------------------------------------===//

/// The elements of an operand of which the result's shape depends; null after
/// an error.
static DenseElementsAttr getShaping(NodeContext &node, unsigned i) {
  Value value = node.getOperand(i);
  DenseElementsAttr elements = getConstant(value);
  if (value && !elements)
    node.emitError() << node.getNode().op_type()
                     << " is not supported where the shape of its result "
                        "depends on values that are not known at compile time: "
                     << node.describe(i);
  return elements;
}

static bool isZero(Attribute element) {
  if (auto real = dyn_cast<FloatAttr>(element))
    return real.getValue().isZero();
  return cast<IntegerAttr>(element).getValue().isZero();
}

/// result[:, n] is the index of the n-th element that is not 0.
static LogicalResult importNonZero(NodeContext &node) {
  DenseElementsAttr elements = getShaping(node, 0);
  if (!elements)
    return failure();
  ArrayRef<int64_t> shape = getShape(node.getOperand(0));
  SmallVector<Shape> rows(shape.size());
  for (auto [position, element] :
       llvm::enumerate(elements.getValues<Attribute>())) {
    if (isZero(element))
      continue;
    int64_t rest = position;
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      rows[dim].push_back(rest % shape[dim]);
      rest /= shape[dim];
    }
  }
  Shape values;
  for (const Shape &row : rows)
    llvm::append_range(values, row);
  int64_t rank = shape.size();
  Shape result{rank, rank ? static_cast<int64_t>(rows[0].size()) : 0};
  return node.setResults(node.reshape(node.constant(values), result));
}

/// The slices along the axis, or the elements, whose condition is true.
static LogicalResult importCompress(NodeContext &node) {
  Value x = node.getOperand(0);
  DenseElementsAttr condition = getShaping(node, 1);
  if (!x || !condition)
    return failure();
  int64_t axis = 0;
  if (!node.hasAttribute("axis")) {
    x = node.reshape(x, {getProduct(getShape(x))});
  } else {
    FailureOr<int64_t> given =
        node.normalizeAxis(node.getInt("axis", 0), getShape(x).size());
    if (failed(given))
      return failure();
    axis = *given;
  }
  Shape indices;
  for (auto [i, element] : llvm::enumerate(condition.getValues<Attribute>()))
    if (!isZero(element))
      indices.push_back(i);
  if (!indices.empty() && indices.back() >= getShape(x)[axis])
    return node.emitError() << "the condition of Compress is longer than axis "
                            << axis << " of " << node.describe(0);
  return node.setResults(node.gather(x, node.constant(indices), axis));
}

void cleave::registerGather(OperatorTable &table) {
  table.onOp("", "Gather", 1, importGather);
  table.onOp("", "GatherND", 11, importGatherND);
  table.onOp("", "GatherElements", 11, importGatherElements);
  table.onOp("", "TopK", 1, importTopK);
  table.onOp("", "ReverseSequence", 10, importReverseSequence);
  table.onOp("", "NonZero", 9, importNonZero);
  table.onOp("", "Compress", 9, importCompress);
}
