//===- Layout.cpp - strided views of rank programs ------------------------===//

#include "passes/memory/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

StridedView cleave::makeView(ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  StridedView view{SmallVector<int64_t>(shape),
                   SmallVector<int64_t>(shape.size()), 0};
  int64_t stride = 1;
  for (int64_t dim : llvm::reverse(order)) {
    view.strides[dim] = stride;
    stride *= shape[dim];
  }
  return view;
}

StridedView cleave::makePaddedView(ArrayRef<int64_t> shape, int64_t padding) {
  SmallVector<int64_t> stored(shape);
  if (padding)
    stored.back() += padding;
  return {SmallVector<int64_t>(shape), getDenseStrides(stored), 0};
}

int64_t cleave::getExtent(const StridedView &view) {
  int64_t extent = 1;
  for (auto [size, stride] : llvm::zip(view.shape, view.strides)) {
    if (size == 0)
      return 0;
    extent += (size - 1) * stride;
  }
  return extent;
}

/// Dims of a view that the library must see as one.
static SmallVector<SharedDim> selectDims(const StridedView &view,
                                         ArrayRef<int64_t> dims) {
  SmallVector<SharedDim> selected;
  for (int64_t dim : dims)
    selected.push_back({view.shape[dim], {view.strides[dim]}});
  return selected;
}

bool cleave::fitsLibrary(const StridedView &view, ArrayRef<int64_t> free,
                         ArrayRef<int64_t> contract) {
  SmallVector<SharedDim> rows = collapse(selectDims(view, free));
  SmallVector<SharedDim> columns = collapse(selectDims(view, contract));
  auto isUnit = [](ArrayRef<SharedDim> dims) {
    return dims.empty() || dims.back().strides[0] == 1;
  };
  auto repeats = [](const SharedDim &dim) {
    return dim.size > 1 && dim.strides[0] == 0;
  };
  return columns.size() <= 1 && rows.size() <= 1 &&
         llvm::none_of(rows, repeats) && llvm::none_of(columns, repeats) &&
         (isUnit(rows) || isUnit(columns));
}

bool cleave::isViewOp(Operation *op) {
  return isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp, DoneOp>(op);
}

std::optional<StridedView> cleave::applyView(Operation *op,
                                             const StridedView &source) {
  using Result = std::optional<StridedView>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](ReshapeOp reshape) {
        return source.reshape(reshape.getType().getShape());
      })
      .Case([&](TransposeOp transpose) -> Result {
        return source.transpose(transpose.getPerm());
      })
      .Case([&](SliceOp slice) -> Result {
        return source.slice(slice.getStarts(), slice.getSizes(),
                            slice.getStrides());
      })
      .Case([&](BroadcastOp broadcast) -> Result {
        return source.broadcast(broadcast.getType().getShape(),
                                broadcast.getDims());
      })
      .Case([&](DoneOp) -> Result { return source; })
      .Default([](Operation *) { return std::nullopt; });
}

void Layouts::addRoot(Value value, ArrayRef<int64_t> order) {
  auto rowMajor =
      llvm::to_vector(llvm::seq<int64_t>(0, getShape(value).size()));
  StridedView view =
      makeView(getShape(value), order.empty() ? rowMajor : order);
  layouts[value] = {value, view};
}

void Layouts::addPadded(Value value, int64_t padding) {
  layouts[value] = {value, makePaddedView(getShape(value), padding)};
}

void Layouts::addArgument(BlockArgument argument) { addRoot(argument, {}); }

bool Layouts::add(Operation *op) {
  if (isViewOp(op)) {
    const Layout &source = get(op->getOperand(0));
    std::optional<StridedView> view = applyView(op, source.view);
    if (!view)
      return false;
    Value root = source.root;
    layouts[op->getResult(0)] = {root, *view};
    return true;
  }
  if (auto paddings = op->getAttrOfType<DenseI64ArrayAttr>(PaddingAttrName)) {
    for (auto [result, padding] :
         llvm::zip(op->getResults(), paddings.asArrayRef()))
      addPadded(result, padding);
    return true;
  }
  auto orders = op->getAttrOfType<ArrayAttr>(OrdersAttrName);
  for (OpResult result : op->getResults())
    addRoot(result,
            orders ? cast<DenseI64ArrayAttr>(orders[result.getResultNumber()])
                         .asArrayRef()
                   : ArrayRef<int64_t>());
  return true;
}
