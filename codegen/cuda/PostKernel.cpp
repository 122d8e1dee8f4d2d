//===- PostKernel.cpp - what a library call leaves of a kernel's chain ----===//
//
// All tensors of the chain are views over the dims of the product's result
// (host/Epilogue.h), so that the kernel's ops all have its shape, and repeated
// operands have strides of 0.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/PostKernel.h"

#include "codegen/Buffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace cleave;
using namespace mlir;

//===-- What cuBLASLt does ------------------------------------------------===//

/// A vector along the columns of the result, of its type.
static bool isBias(const CleavePostOp &post, const CleaveTensorDesc &result) {
  if (post.kind != CLEAVE_POST_ADD || post.operand.dtype != result.dtype)
    return false;
  const CleaveTensorDesc &operand = post.operand;
  for (int32_t i = 0; i + 1 < operand.rank; ++i)
    if (operand.dims[i] != 1)
      return false;
  int32_t last = operand.rank - 1;
  return last >= 0 && operand.dims[last] > 1 && operand.strides[last] == 1;
}

/// A matrix of the result's shape and type, with rows in memory.
static bool isAddend(const CleavePostOp &post, const CleaveTensorDesc &result) {
  if (post.kind != CLEAVE_POST_ADD || post.operand.rank != result.rank ||
      post.operand.dtype != result.dtype)
    return false;
  for (int32_t i = 0; i < result.rank; ++i)
    if (post.operand.dims[i] != result.dims[i])
      return false;
  int32_t last = result.rank - 1;
  return result.dims[last] == 1 || post.operand.strides[last] == 1;
}

int64_t cleave::countFusedOps(const CleaveMatmulDesc &desc) {
  int32_t last = desc.c.rank - 1;
  if (desc.c.dims[last] != 1 && desc.c.strides[last] != 1)
    return 0;
  int64_t count = 0;
  bool hasBias = false, hasAddend = false;
  for (; count < desc.postOpCount; ++count) {
    const CleavePostOp &post = desc.postOps[count];
    if (!hasBias && isBias(post, desc.c))
      hasBias = true;
    else if (!hasAddend && isAddend(post, desc.c))
      hasAddend = true;
    else
      break;
  }
  if (count < desc.postOpCount &&
      (desc.postOps[count].kind == CLEAVE_POST_RELU ||
       desc.postOps[count].kind == CLEAVE_POST_GELU_TANH))
    ++count;
  return count;
}

//===-- The rest ----------------------------------------------------------===//

static UnaryKind getUnaryKind(CleavePostOpKind kind) {
  switch (kind) {
  case CLEAVE_POST_GELU_ERF:
    return UnaryKind::GeluErf;
  case CLEAVE_POST_GELU_TANH:
    return UnaryKind::GeluTanh;
  case CLEAVE_POST_RELU:
    return UnaryKind::Relu;
  case CLEAVE_POST_SIGMOID:
    return UnaryKind::Sigmoid;
  case CLEAVE_POST_TANH:
    return UnaryKind::Tanh;
  default:
    return UnaryKind::Silu;
  }
}

static bool isBinary(CleavePostOpKind kind) {
  return kind == CLEAVE_POST_ADD || kind == CLEAVE_POST_MUL;
}

/// The place of an operand: its own buffer, moved by the view's offset.
static FailureOr<BufferAttr> getPlace(KernelOp library,
                                      const LibraryOperand &operand) {
  MLIRContext *context = library.getContext();
  if (operand.operand < 0)
    return BufferAttr::get(context, BufferSpace::Constant, 0, 0,
                           operand.view.strides);
  FailureOr<BufferAttr> buffer =
      getBuffer(library.getInputs()[operand.operand]);
  if (failed(buffer))
    return failure();
  auto element = RankedTensorType::get({}, operand.elementType);
  int64_t offset =
      buffer->getOffset() + operand.view.offset * getByteSize(element);
  return BufferAttr::get(context, buffer->getSpace(), buffer->getIndex(),
                         offset, operand.view.strides, buffer->getSlots(),
                         buffer->getSlotBytes());
}

FailureOr<PostKernel> cleave::makePostKernel(KernelOp library, int64_t first) {
  FailureOr<Epilogue> epilogue = readEpilogue(library);
  FailureOr<BufferAttr> result = getBuffer(library.getResult(0));
  if (failed(epilogue) || failed(result))
    return failure();
  auto posts = ArrayRef(epilogue->postOps).drop_front(first);
  auto type = RankedTensorType::get(
      epilogue->result.shape,
      cast<RankedTensorType>(library.getResult(0).getType()).getElementType());
  Location loc = library.getLoc();
  PostKernel made;
  made.holder = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(made.holder->getBody());
  auto own =
      BufferAttr::get(b.getContext(), result->getSpace(), result->getIndex(),
                      result->getOffset(), epilogue->result.strides,
                      result->getSlots(), result->getSlotBytes());
  SmallVector<Type> types{type};
  made.operands = {own};
  made.results = {own};
  for (const LibraryPostOp &post : posts) {
    if (!post.operand)
      continue;
    FailureOr<BufferAttr> place = getPlace(library, *post.operand);
    if (failed(place))
      return failure();
    made.reads.push_back(*post.operand);
    made.operands.push_back(*place);
    types.push_back(type.clone(post.operand->elementType));
  }
  // The holder's arguments stand for what the host code addresses.
  auto function = b.create<func::FuncOp>(
      loc, "post", b.getFunctionType(types, TypeRange(type)));
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  made.kernel = b.create<KernelOp>(loc, TypeRange(type), KernelKind::Loop,
                                   entry->getArguments());
  Block *body = b.createBlock(&made.kernel.getBody());
  for (Type each : types)
    body->addArgument(each, loc);
  Value value = body->getArgument(0);
  unsigned next = 1;
  for (const LibraryPostOp &post : posts) {
    if (!isBinary(post.kind)) {
      value = b.create<UnaryOp>(loc, type, getUnaryKind(post.kind), value);
      continue;
    }
    Value other = body->getArgument(next++);
    if (other.getType() != type)
      other = b.create<CastOp>(loc, type, other);
    BinaryKind kind =
        post.kind == CLEAVE_POST_ADD ? BinaryKind::Add : BinaryKind::Mul;
    value = b.create<BinaryOp>(loc, type, kind, value, other);
  }
  b.create<YieldOp>(loc, ValueRange(value));
  b.setInsertionPointToEnd(entry);
  b.create<func::ReturnOp>(loc, made.kernel.getResults());
  return std::move(made);
}
