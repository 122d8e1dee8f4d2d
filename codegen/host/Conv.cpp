//===- Conv.cpp - describe a conv kernel for the library ------------------===//
//
// The weight is dense, input and result too or with their channels last;
// post-operands are views over the result's dims [N, O, spatial...].
//
//===----------------------------------------------------------------------===//

#include "codegen/Buffers.h"
#include "codegen/Dtypes.h"
#include "codegen/host/LibraryCall.h"

using namespace cleave;
using namespace mlir;

static FailureOr<CleaveTensorDesc> describeDense(Operation *conv,
                                                 StridedView view,
                                                 Type elementType,
                                                 StringRef what) {
  FailureOr<CleaveDtype> dtype = getDtype(conv, elementType);
  if (failed(dtype))
    return failure();
  // Strides of dims of size 1 may be any: describe those of the whole.
  SmallVector<int64_t> strides = getDenseStrides(view.shape);
  if (!isDense(view.shape, view.strides)) {
    SmallVector<int64_t> order = getChannelsLast(view.shape.size());
    if (!view.isDenseIn(order))
      return conv->emitOpError() << "needs a dense " << what;
    StridedView ordered = view.transpose(order);
    ordered.strides = getDenseStrides(ordered.shape);
    strides = ordered.untranspose(order).strides;
  }
  CleaveTensorDesc desc = {};
  desc.dtype = *dtype;
  desc.rank = view.shape.size();
  llvm::copy(view.shape, desc.dims);
  llvm::copy(strides, desc.strides);
  return desc;
}

static FailureOr<CleavePostOp> describePostOp(ConvOp conv,
                                              const LibraryPostOp &post) {
  CleavePostOp desc = {};
  desc.kind = post.kind;
  if (!post.operand)
    return desc;
  FailureOr<CleaveDtype> dtype = getDtype(conv, post.operand->elementType);
  if (failed(dtype))
    return failure();
  const StridedView &view = post.operand->view;
  desc.operand.dtype = *dtype;
  desc.operand.rank = view.shape.size();
  int64_t extent = 1;
  for (int64_t i = view.shape.size() - 1; i >= 0; --i) {
    desc.operand.dims[i] = view.strides[i] ? view.shape[i] : 1;
    desc.operand.strides[i] = view.strides[i] ? view.strides[i] : extent;
    extent = std::max(extent, desc.operand.dims[i] * desc.operand.strides[i]);
  }
  return desc;
}

/// Of a conv or conv_weight_grad.
template <typename Op> static void fillWindow(Op conv, CleaveConvDesc &desc) {
  desc.spatialRank = conv.getStrides().size();
  desc.groups = conv.getGroups();
  for (int64_t i = 0; i < desc.spatialRank; ++i) {
    desc.stride[i] = conv.getStrides()[i];
    desc.dilation[i] = conv.getDilations()[i];
    desc.padLow[i] = conv.getPads()[i];
    desc.padHigh[i] = conv.getPads()[desc.spatialRank + i];
  }
}

FailureOr<LibraryCall> cleave::readConv(KernelOp kernel) {
  FailureOr<Epilogue> epilogue = readEpilogue(kernel);
  if (failed(epilogue))
    return failure();
  auto conv = dyn_cast<ConvOp>(epilogue->contraction);
  if (!conv)
    return kernel.emitOpError() << "of kind conv has no conv";
  FailureOr<LibraryOperand> input = traceOperand(kernel, conv.getInput());
  FailureOr<LibraryOperand> weight = traceOperand(kernel, conv.getWeight());
  if (failed(input) || failed(weight))
    return failure();
  auto inputDesc =
      describeDense(conv, input->view, input->elementType, "input");
  auto weightDesc =
      describeDense(conv, weight->view, weight->elementType, "weight");
  auto outputDesc = describeDense(conv, epilogue->result,
                                  conv.getType().getElementType(), "result");
  if (failed(inputDesc) || failed(weightDesc) || failed(outputDesc))
    return failure();
  CleaveConvDesc desc = {};
  desc.input = *inputDesc;
  desc.weight = *weightDesc;
  desc.output = *outputDesc;
  fillWindow(conv, desc);
  desc.transposed = conv.getTransposed();
  LibraryCall call{*input, *weight, {}, {}};
  desc.postOpCount = epilogue->postOps.size();
  for (auto [i, post] : llvm::enumerate(epilogue->postOps)) {
    FailureOr<CleavePostOp> postDesc = describePostOp(conv, post);
    if (failed(postDesc))
      return failure();
    desc.postOps[i] = *postDesc;
    call.post.push_back(post.operand);
  }
  call.descriptor.assign(reinterpret_cast<const char *>(&desc), sizeof(desc));
  return std::move(call);
}

FailureOr<LibraryCall> cleave::readConvWeightGrad(KernelOp kernel) {
  auto op = kernel.getBody()
                .front()
                .getTerminator()
                ->getOperand(0)
                .getDefiningOp<ConvWeightGradOp>();
  if (!op)
    return kernel.emitOpError()
           << "of kind conv_weight_grad yields no conv_weight_grad";
  FailureOr<LibraryOperand> input = traceOperand(kernel, op.getInput());
  FailureOr<LibraryOperand> dresult = traceOperand(kernel, op.getDresult());
  FailureOr<BufferAttr> buffer = getBuffer(kernel.getResult(0));
  if (failed(input) || failed(dresult) || failed(buffer))
    return failure();
  StridedView result{SmallVector<int64_t>(op.getType().getShape()),
                     SmallVector<int64_t>(buffer->getStrides()), 0};
  auto inputDesc = describeDense(op, input->view, input->elementType, "input");
  auto outputDesc =
      describeDense(op, dresult->view, dresult->elementType, "dresult");
  auto weightDesc =
      describeDense(op, result, op.getType().getElementType(), "result");
  if (failed(inputDesc) || failed(outputDesc) || failed(weightDesc))
    return failure();
  CleaveConvDesc desc = {};
  desc.input = *inputDesc;
  desc.output = *outputDesc;
  desc.weight = *weightDesc;
  fillWindow(op, desc);
  return LibraryCall{
      *input,
      *dresult,
      {},
      std::string(reinterpret_cast<const char *>(&desc), sizeof(desc))};
}
