//===- Matmul.cpp - describe a matmul kernel for the library --------------===//
//
// The dims of a dot fall into four classes: batch, m (free dims of the left
// side), k (contracting), n (free dims of the right side). Each class is
// collapsed over all tensors that have it. The library wants [..., m, k] times
// [..., k, n]: one m, one k, one n, and leading dims that may be 1 on a side.
//
// Example: x [1, 197, 384] . w [384, 6, 64] -> [1, 197, 6, 64], all dense:
// m = 197, k = 384, n = 384. When the result is written as [1, 6, 197, 64], n
// does not join: 6 becomes a leading dim that the left side lacks.
//
//===----------------------------------------------------------------------===//

#include "codegen/Buffers.h"
#include "codegen/Dtypes.h"
#include "codegen/host/LibraryCall.h"

using namespace cleave;
using namespace mlir;

namespace {
/// Dims of one class over the tensors a, b, c and the post-operands.
using DimClass = SmallVector<SharedDim>;

class MatmulReader {
public:
  MatmulReader(KernelOp kernel, Epilogue epilogue)
      : kernel(kernel), epilogue(std::move(epilogue)),
        dot(cast<DotOp>(this->epilogue.contraction)) {}
  FailureOr<LibraryCall> read();

private:
  LogicalResult collectTensors();
  void collectClasses();
  DimClass makeClass(ArrayRef<int64_t> aDims, ArrayRef<int64_t> bDims,
                     ArrayRef<int64_t> cDims) const;
  LogicalResult arrangeDims();
  LogicalResult fillDescriptor(CleaveMatmulDesc &desc);
  CleaveTensorDesc describe(size_t tensor, ArrayRef<SharedDim> dims,
                            CleaveDtype dtype) const;

  KernelOp kernel;
  Epilogue epilogue;
  DotOp dot;
  LibraryCall call;
  /// a, b, c, then the post-operands.
  SmallVector<StridedView> views;
  DimClass batch, m, k, n;
  /// Batch dims and those free dims that are not the one m or n.
  SmallVector<SharedDim> leading;
};
} // namespace

enum { TensorA = 0, TensorB = 1, TensorC = 2, FirstPost = 3 };

LogicalResult MatmulReader::collectTensors() {
  FailureOr<LibraryOperand> lhs = traceOperand(kernel, dot.getLhs());
  FailureOr<LibraryOperand> rhs = traceOperand(kernel, dot.getRhs());
  if (failed(lhs) || failed(rhs))
    return failure();
  call.lhs = *lhs;
  call.rhs = *rhs;
  views = {lhs->view, rhs->view, epilogue.result};
  for (const LibraryPostOp &post : epilogue.postOps) {
    call.post.push_back(post.operand);
    // A post-operation without operand is as a tensor of one value.
    StridedView none = epilogue.result;
    none.strides.assign(none.shape.size(), 0);
    views.push_back(post.operand ? post.operand->view : none);
  }
  return success();
}

/// An empty list: the tensor lacks the class.
DimClass MatmulReader::makeClass(ArrayRef<int64_t> aDims,
                                 ArrayRef<int64_t> bDims,
                                 ArrayRef<int64_t> cDims) const {
  DimClass dims;
  size_t count = std::max({aDims.size(), bDims.size(), cDims.size()});
  for (size_t i = 0; i < count; ++i) {
    SharedDim dim{1, SmallVector<int64_t>(views.size(), 0)};
    auto add = [&](size_t tensor, ArrayRef<int64_t> list) {
      if (list.empty())
        return;
      dim.size = views[tensor].shape[list[i]];
      dim.strides[tensor] = views[tensor].strides[list[i]];
    };
    add(TensorA, aDims);
    add(TensorB, bDims);
    for (size_t tensor = TensorC; tensor < views.size(); ++tensor)
      add(tensor, cDims);
    dims.push_back(dim);
  }
  return collapse(dims);
}

void MatmulReader::collectClasses() {
  SmallVector<int64_t> lhsFree = dot.getLhsFree(), rhsFree = dot.getRhsFree();
  auto resultDims =
      llvm::to_vector(llvm::seq<int64_t>(0, epilogue.result.shape.size()));
  ArrayRef<int64_t> c(resultDims);
  size_t batches = dot.getLhsBatch().size();
  batch =
      makeClass(dot.getLhsBatch(), dot.getRhsBatch(), c.take_front(batches));
  m = makeClass(lhsFree, {}, c.slice(batches, lhsFree.size()));
  n = makeClass({}, rhsFree, c.take_back(rhsFree.size()));
  k = makeClass(dot.getLhsContract(), dot.getRhsContract(), {});
}

/// Leaves one dim in `dims`, the largest; the others become leading dims.
static void keepOne(DimClass &dims, size_t tensors,
                    SmallVectorImpl<SharedDim> &leading) {
  SharedDim kept{1, SmallVector<int64_t>(tensors, 0)};
  auto *largest = std::max_element(
      dims.begin(), dims.end(),
      [](const SharedDim &a, const SharedDim &b) { return a.size < b.size; });
  for (SharedDim &dim : dims)
    if (&dim == largest)
      kept = dim;
    else
      leading.push_back(dim);
  dims = {kept};
}

LogicalResult MatmulReader::arrangeDims() {
  if (k.size() > 1)
    return dot.emitOpError()
           << "has contracting dims that are not one dim in memory on both "
              "sides; expected a copy before this kernel";
  leading = batch;
  keepOne(m, views.size(), leading);
  keepOne(n, views.size(), leading);
  if (k.empty())
    k.push_back({1, SmallVector<int64_t>(views.size(), 0)});
  if (leading.size() + 2 > CLEAVE_MAX_RANK)
    return dot.emitOpError()
           << "needs " << leading.size() + 2 << " dims in memory; at most "
           << CLEAVE_MAX_RANK << " fit in one call";
  return success();
}

/// A dim with stride 0 has size 1 there: the library repeats it.
CleaveTensorDesc MatmulReader::describe(size_t tensor, ArrayRef<SharedDim> dims,
                                        CleaveDtype dtype) const {
  CleaveTensorDesc desc = {};
  desc.dtype = dtype;
  desc.rank = dims.size();
  int64_t extent = 1;
  for (int64_t i = desc.rank - 1; i >= 0; --i) {
    int64_t stride = dims[i].strides[tensor];
    desc.dims[i] = stride ? dims[i].size : 1;
    desc.strides[i] = stride ? stride : extent;
    extent = std::max(extent, desc.dims[i] * desc.strides[i]);
  }
  return desc;
}

LogicalResult MatmulReader::fillDescriptor(CleaveMatmulDesc &desc) {
  FailureOr<CleaveDtype> a = getDtype(dot, call.lhs.elementType);
  FailureOr<CleaveDtype> b = getDtype(dot, call.rhs.elementType);
  FailureOr<CleaveDtype> c = getDtype(
      dot,
      cast<RankedTensorType>(kernel.getResult(0).getType()).getElementType());
  if (failed(a) || failed(b) || failed(c))
    return failure();
  auto arrange = [&](const SharedDim &row, const SharedDim &column) {
    SmallVector<SharedDim> dims(leading);
    dims.append({row, column});
    return dims;
  };
  desc.a = describe(TensorA, arrange(m[0], k[0]), *a);
  desc.b = describe(TensorB, arrange(k[0], n[0]), *b);
  desc.c = describe(TensorC, arrange(m[0], n[0]), *c);
  desc.postOpCount = epilogue.postOps.size();
  for (auto [i, post] : llvm::enumerate(epilogue.postOps)) {
    desc.postOps[i].kind = post.kind;
    if (!post.operand)
      continue;
    FailureOr<CleaveDtype> dtype = getDtype(dot, post.operand->elementType);
    if (failed(dtype))
      return failure();
    desc.postOps[i].operand =
        describe(FirstPost + i, arrange(m[0], n[0]), *dtype);
  }
  return success();
}

FailureOr<LibraryCall> MatmulReader::read() {
  if (failed(collectTensors()))
    return failure();
  collectClasses();
  CleaveMatmulDesc desc = {};
  if (failed(arrangeDims()) || failed(fillDescriptor(desc)))
    return failure();
  call.descriptor.assign(reinterpret_cast<const char *>(&desc), sizeof(desc));
  return std::move(call);
}

FailureOr<LibraryCall> cleave::readMatmul(KernelOp kernel) {
  FailureOr<Epilogue> epilogue = readEpilogue(kernel);
  if (failed(epilogue))
    return failure();
  if (!isa<DotOp>(epilogue->contraction))
    return kernel.emitOpError() << "of kind matmul has no dot";
  return MatmulReader(kernel, std::move(*epilogue)).read();
}
