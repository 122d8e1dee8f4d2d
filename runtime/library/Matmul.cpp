//===- Matmul.cpp - products by oneDNN ------------------------------------===//
//
// A slot's first call brings the product to few dims, asks oneDNN for a
// primitive and keeps it. A right operand that no step writes is brought to the
// layout that oneDNN likes best, once: rows of 3072 floats, 12 KiB apart, cost
// the plain layout half its speed. The order of preference: as many
// post-operations as can be inside the fast code, and the rest as a pass over
// c; whatever oneDNN has, with a line in the log, since its reference code is
// slow. An operand that is added and lies where c does is summed into: to
// oneDNN it is no operand, for some of its code writes c before it reads those.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"
#include "runtime/library/MatmulShape.h"
#include "runtime/library/PostOps.h"
#include "runtime/library/Reordered.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace cleave::rt;
using dnnl::memory;

namespace {
class Matmul final : public LibraryOp {
public:
  /// The addresses are those of the first call. Later ones may differ, but
  /// operands that lie where c does are the same ones.
  Matmul(CleaveContext &context, const CleaveMatmulDesc &desc, const void *a,
         const void *b, const void *c, const void *const *post);
  void run(CleaveContext &context, const void *a, const void *b, void *c,
           const void *const *post);

private:
  /// Makes the primitive with the first `fused` post-operations. False when
  /// oneDNN has only reference code for it.
  bool prepare(DnnlState &state, int fused, bool acceptReference);
  bool isEmpty() const {
    int64_t elements = shape.m * shape.n;
    for (int64_t size : shape.batch)
      elements *= size;
    return elements == 0;
  }
  bool firstIsBias() const;
  bool suitsFastCode(int index) const;
  void keepOperands(const void *c, const void *const *post);
  void runRest(CleaveContext &context, float *c, const void *const *post) const;

  MatmulShape shape;
  std::vector<int32_t> kinds;
  std::vector<bool> isInPlace; ///< post-operations whose operand is c
  bool swapped = false;
  int fused = 0;
  AlignedBuffer kept; ///< what c held, where the pass needs it
  PreparedPrimitive primitive;
  bool hasConstantWeight = false;
  ReorderedWeight weight;
  /// Post-operations whose operands the primitive takes, in argument order.
  std::vector<int> operandOrder;
};
} // namespace

/// A descriptor of [batch..., rows, columns]; broadcast dims have size 1.
static memory::desc describe(const MatmulShape &shape, const MatrixStrides &of,
                             int64_t rows, int64_t columns) {
  memory::dims dims, strides;
  auto add = [&](int64_t size, int64_t stride) {
    dims.push_back(stride == 0 ? 1 : size);
    strides.push_back(stride == 0 ? 1 : stride);
  };
  for (size_t d = 0; d < shape.batch.size(); ++d)
    add(shape.batch[d], of.batch[d]);
  add(rows, of.row);
  add(columns, of.column);
  return memory::desc(dims, memory::data_type::f32, strides);
}

/// The same for an operand whose last two dims are never broadcast.
static memory::desc describeMatrix(const MatmulShape &shape, MatrixStrides of,
                                   int64_t rows, int64_t columns) {
  // A dim of size 1 has no stride of its own: give it one that is dense.
  if (columns == 1)
    of.column = 1;
  if (rows == 1)
    of.row = std::max<int64_t>(columns * of.column, 1);
  return describe(shape, of, rows, columns);
}

Matmul::Matmul(CleaveContext &context, const CleaveMatmulDesc &desc,
               const void *a, const void *b, const void *c,
               const void *const *post) {
  verifyF32(desc.a, "the left operand of a product");
  verifyF32(desc.b, "the right operand of a product");
  verifyF32(desc.c, "the result of a product");
  shape = matmulShape(desc);
  for (int i = 0; i < desc.postOpCount; ++i) {
    kinds.push_back(desc.postOps[i].kind);
    isInPlace.push_back(hasOperand(kinds.back()) && post[i] == c);
    if (hasOperand(kinds.back()))
      verifyF32(desc.postOps[i].operand, "a post-operation's operand");
  }
  if (shape.k == 0)
    fail(ExitPlan, "a product over an inner dim of size 0 is not supported");
  if (isEmpty())
    return;
  foldBatch(shape);
  swapped = orientRows(shape);
  hasConstantWeight =
      shape.batch.empty() && context.isConstant(swapped ? a : b);

  int all = desc.postOpCount, suited = 0;
  while (suited < all && suitsFastCode(suited))
    ++suited;
  int bias = firstIsBias() ? 1 : 0;
  for (int count = suited; count >= std::min(bias, suited); --count)
    if (prepare(*context.dnnl, count, false))
      return;
  logf(LogLevel::Info,
       "a product of {} x {} x {} runs in oneDNN's reference code", shape.m,
       shape.n, shape.k);
  prepare(*context.dnnl, bias, true);
}

bool Matmul::firstIsBias() const {
  if (kinds.empty() || kinds[0] != CLEAVE_POST_ADD || isInPlace[0])
    return false;
  const MatrixStrides &operand = shape.post[0];
  bool sameForAll = operand.row == 0;
  for (int64_t stride : operand.batch)
    sameForAll &= stride == 0;
  return sameForAll && operand.column == 1;
}

/// oneDNN addresses an operand of c's shape by c's own strides.
bool Matmul::suitsFastCode(int index) const {
  if (!hasOperand(kinds[index]))
    return true;
  const MatrixStrides &operand = shape.post[index];
  if (isInPlace[index])
    return kinds[index] == CLEAVE_POST_ADD && operand == shape.c &&
           std::find(isInPlace.begin(), isInPlace.end(), true) ==
               isInPlace.begin() + index;
  bool scalar = operand.row == 0 && operand.column == 0;
  bool perColumn = operand.row == 0 && operand.column == 1;
  bool noBatch = true;
  for (int64_t stride : operand.batch)
    noBatch &= stride == 0;
  return (noBatch && (scalar || perColumn)) || operand == shape.c;
}

bool Matmul::prepare(DnnlState &state, int count, bool acceptReference) {
  memory::desc a = describeMatrix(shape, shape.a, shape.m, shape.k);
  memory::desc b = describeMatrix(shape, shape.b, shape.k, shape.n);
  memory::desc c = describeMatrix(shape, shape.c, shape.m, shape.n);
  int first = firstIsBias() && count > 0 ? 1 : 0;
  memory::desc bias;
  if (first)
    bias = describe(shape, shape.post[0], shape.m, shape.n);

  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  for (int i = first; i < count; ++i)
    if (isInPlace[i])
      ops.append_sum(1.f);
    else
      appendPostOp(ops, kinds[i],
                   describe(shape, shape.post[i], shape.m, shape.n));
  attr.set_post_ops(ops);
  memory::desc wanted = hasConstantWeight ? anyLayout(b) : b;
  auto desc = first ? dnnl::matmul::desc(a, wanted, bias, c)
                    : dnnl::matmul::desc(a, wanted, c);
  dnnl::matmul::primitive_desc primitiveDesc(desc, attr, state.engine, true);
  if (!primitiveDesc)
    fail(ExitPlan, "oneDNN has no product of {} x {} x {} with these strides",
         shape.m, shape.n, shape.k);
  std::string implementation = primitiveDesc.impl_info_str();
  if (isReference(implementation) && !acceptReference)
    return false;
  logf(LogLevel::Debug, "product of {} x {} x {}, batch {}: {}, {} of {} fused",
       shape.m, shape.n, shape.k, listed(shape.batch), implementation, count,
       kinds.size());

  weight.prepare(state, b, primitiveDesc.weights_desc(), Reordered::Inward);
  primitive = PreparedPrimitive(dnnl::matmul(primitiveDesc),
                                primitiveDesc.scratchpad_desc(), state,
                                {{DNNL_ARG_SRC, a},
                                 {DNNL_ARG_WEIGHTS, weight.innerDesc()},
                                 {DNNL_ARG_DST, c}});
  operandOrder.clear();
  for (int i = 0; i < count; ++i) {
    if (!hasOperand(kinds[i]) || isInPlace[i])
      continue;
    int argument =
        i < first ? DNNL_ARG_BIAS
                  : DNNL_ARG_ATTR_MULTIPLE_POST_OP(i - first) | DNNL_ARG_SRC_1;
    primitive.add(argument, describe(shape, shape.post[i], shape.m, shape.n),
                  state);
    operandOrder.push_back(i);
  }
  fused = count;
  return true;
}

/// Puts aside what c holds where the pass over it needs it.
void Matmul::keepOperands(const void *c, const void *const *post) {
  for (size_t i = fused; i < kinds.size(); ++i) {
    if (!isInPlace[i])
      continue;
    size_t bytes = describeMatrix(shape, shape.c, shape.m, shape.n).get_size();
    if (kept.size() == 0)
      kept = AlignedBuffer(bytes);
    std::memcpy(kept.data(), c, bytes);
    return;
  }
}

void Matmul::runRest(CleaveContext &context, float *c,
                     const void *const *post) const {
  std::vector<int64_t> dims = shape.batch;
  dims.insert(dims.end(), {shape.m, shape.n});
  auto flat = [](const MatrixStrides &strides) {
    std::vector<int64_t> all = strides.batch;
    all.insert(all.end(), {strides.row, strides.column});
    return all;
  };
  std::vector<ElementwiseStep> steps;
  for (size_t i = fused; i < kinds.size(); ++i) {
    const void *operand = nullptr;
    if (hasOperand(kinds[i]))
      operand = isInPlace[i] ? kept.data() : post[i];
    steps.push_back(
        {kinds[i], static_cast<const float *>(operand), flat(shape.post[i])});
  }
  applyElementwise(c, dims, flat(shape.c), steps, context.threads);
}

void Matmul::run(CleaveContext &context, const void *a, const void *b, void *c,
                 const void *const *post) {
  if (isEmpty())
    return;
  std::array<const void *, 3 + CLEAVE_MAX_POST_OPS> addresses = {
      swapped ? b : a, weight.get(context, swapped ? a : b), c};
  size_t count = 3;
  for (int index : operandOrder)
    addresses[count++] = post[index];
  keepOperands(c, post);
  primitive.run(*context.dnnl, {addresses.data(), count});
  if (fused < static_cast<int>(kinds.size()))
    runRest(context, static_cast<float *>(c), post);
}

void cleaveMatmul(CleaveContext *context, int32_t slot,
                  const CleaveMatmulDesc *desc, const void *a, const void *b,
                  void *c, const void *const *post) {
  guarded(context, [&] {
    if (context->device)
      return context->device->matmul(slot, *desc, a, b, c, post);
    std::unique_ptr<LibraryOp> &op = context->slots.at(slot);
    if (!op)
      op = std::make_unique<Matmul>(*context, *desc, a, b, c, post);
    static_cast<Matmul &>(*op).run(*context, a, b, c, post);
  });
}
