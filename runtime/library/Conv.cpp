//===- Conv.cpp - convolutions by oneDNN ----------------------------------===//
//
// oneDNN chooses the layouts; reorders lead from and to the plain layouts of
// the program. Weights that no step writes are reordered once. Post-operations
// that oneDNN's fast code refuses run as a pass over the plain result.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/library/Dnnl.h"
#include "runtime/library/PostOps.h"
#include "runtime/support/Log.h"

#include <array>

using namespace cleave::rt;
using dnnl::memory;

namespace {
/// A tensor on its way between the program's layout and the primitive's.
struct Reordered {
  memory::desc plain, inner;
  PreparedPrimitive reorder;
  AlignedBuffer buffer;
  bool needed() const { return plain != inner; }
};

class Conv final : public LibraryOp {
public:
  Conv(CleaveContext &context, const CleaveConvDesc &desc);
  void run(CleaveContext &context, const void *input, const void *weight,
           void *output, const void *const *post);

private:
  bool prepare(DnnlState &state, const CleaveConvDesc &desc, int fused,
               bool acceptReference);
  template <typename Primitive>
  bool adopt(DnnlState &state, const typename Primitive::primitive_desc &chosen,
             int fused, bool acceptReference);
  memory::desc operandDesc(int index) const;
  bool suitsFastCode(int index) const;
  const void *innerWeight(CleaveContext &context, const void *weight);
  void runRest(CleaveContext &context, float *output,
               const void *const *post) const;

  memory::dims outputDims, outputStrides;
  std::vector<int32_t> kinds;
  /// Strides of each post-operation's operand along the dims of the output.
  std::vector<memory::dims> postStrides;
  Reordered input, weight, output;
  const void *reorderedWeight = nullptr;
  int fused = 0;
  std::vector<int> operandOrder;
  PreparedPrimitive primitive;
};
} // namespace

static memory::dims dimsOf(const CleaveTensorDesc &desc) {
  return memory::dims(desc.dims, desc.dims + desc.rank);
}
static memory::dims stridesOf(const CleaveTensorDesc &desc) {
  return memory::dims(desc.strides, desc.strides + desc.rank);
}

/// The weights as oneDNN names their dims: [g, O, I, k...], g only if grouped.
/// ONNX keeps transposed weights as [I, O/g, k...]: same bytes, other strides.
static memory::desc weightDesc(const CleaveConvDesc &desc) {
  memory::dims dims = dimsOf(desc.weight), strides = stridesOf(desc.weight);
  int64_t groups = desc.groups;
  if (groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
    strides.insert(strides.begin(), dims[1] * strides[0]);
  }
  if (desc.transposed) {
    size_t o = groups > 1 ? 1 : 0;
    std::swap(dims[o], dims[o + 1]);
    std::swap(strides[o], strides[o + 1]);
  }
  return memory::desc(dims, memory::data_type::f32, strides);
}

static memory::desc anyLayout(const memory::desc &desc) {
  return memory::desc(desc.dims(), memory::data_type::f32,
                      memory::format_tag::any);
}

Conv::Conv(CleaveContext &context, const CleaveConvDesc &desc) {
  verifyF32(desc.input, "the input of a convolution");
  verifyF32(desc.weight, "the weight of a convolution");
  verifyF32(desc.output, "the output of a convolution");
  outputDims = dimsOf(desc.output);
  outputStrides = stridesOf(desc.output);
  for (int i = 0; i < desc.postOpCount; ++i) {
    const CleaveTensorDesc &operand = desc.postOps[i].operand;
    kinds.push_back(desc.postOps[i].kind);
    memory::dims &strides = postStrides.emplace_back(outputDims.size(), 0);
    if (!hasOperand(kinds.back()))
      continue;
    verifyF32(operand, "a post-operation's operand");
    for (int d = 0, lead = desc.output.rank - operand.rank; d < operand.rank;
         ++d)
      strides[lead + d] = operand.dims[d] == 1 ? 0 : operand.strides[d];
  }
  // Post-operations make oneDNN 2.6's transposed code 7 to 16 times as slow
  // (3.3 ms to 54 for 128x64x64 to 32x128x128 by 4x4), so there they are a
  // pass.
  int suited = 0;
  while (!desc.transposed && suited < desc.postOpCount && suitsFastCode(suited))
    ++suited;
  if (prepare(*context.dnnl, desc, suited, false) ||
      prepare(*context.dnnl, desc, 0, false))
    return;
  logf(LogLevel::Info, "a convolution to {} runs in oneDNN's reference code",
       listed(outputDims));
  prepare(*context.dnnl, desc, 0, true);
}

/// A scalar, or one value a channel.
bool Conv::suitsFastCode(int index) const {
  if (!hasOperand(kinds[index]))
    return true;
  const memory::dims &strides = postStrides[index];
  for (size_t d = 0; d < strides.size(); ++d)
    if (strides[d] != 0 && (d != 1 || strides[d] != 1))
      return false;
  return true;
}

memory::desc Conv::operandDesc(int index) const {
  memory::dims dims(outputDims.size(), 1), strides(outputDims.size(), 1);
  if (postStrides[index][1] != 0)
    dims[1] = outputDims[1];
  strides[0] = dims[1];
  return memory::desc(dims, memory::data_type::f32, strides);
}

bool Conv::prepare(DnnlState &state, const CleaveConvDesc &desc, int count,
                   bool acceptReference) {
  input.plain = memory::desc(dimsOf(desc.input), memory::data_type::f32,
                             stridesOf(desc.input));
  weight.plain = weightDesc(desc);
  output.plain =
      memory::desc(outputDims, memory::data_type::f32, outputStrides);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  for (int i = 0; i < count; ++i)
    appendPostOp(ops, kinds[i], operandDesc(i));
  attr.set_post_ops(ops);

  auto spatial = [&](const int64_t *values, int64_t minus = 0) {
    memory::dims result(values, values + desc.spatialRank);
    for (int64_t &value : result)
      value -= minus;
    return result;
  };
  memory::dims stride = spatial(desc.stride),
               dilation = spatial(desc.dilation, 1);
  memory::dims low = spatial(desc.padLow), high = spatial(desc.padHigh);
  memory::desc x = anyLayout(input.plain), w = anyLayout(weight.plain),
               y = anyLayout(output.plain);
  constexpr auto forward = dnnl::prop_kind::forward_inference;
  if (desc.transposed) {
    dnnl::deconvolution_forward::desc operation(
        forward, dnnl::algorithm::deconvolution_direct, x, w, y, stride,
        dilation, low, high);
    dnnl::deconvolution_forward::primitive_desc chosen(operation, attr,
                                                       state.engine, true);
    return adopt<dnnl::deconvolution_forward>(state, chosen, count,
                                              acceptReference);
  }
  dnnl::convolution_forward::desc operation(
      forward, dnnl::algorithm::convolution_direct, x, w, y, stride, dilation,
      low, high);
  dnnl::convolution_forward::primitive_desc chosen(operation, attr,
                                                   state.engine, true);
  return adopt<dnnl::convolution_forward>(state, chosen, count,
                                          acceptReference);
}

static void prepareReorder(DnnlState &state, Reordered &tensor, bool inward) {
  if (!tensor.needed())
    return;
  const memory::desc &from = inward ? tensor.plain : tensor.inner;
  const memory::desc &to = inward ? tensor.inner : tensor.plain;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc desc(state.engine, from, state.engine, to,
                                     attr);
  tensor.reorder =
      PreparedPrimitive(dnnl::reorder(desc), desc.scratchpad_desc(), state,
                        {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  tensor.buffer = AlignedBuffer(tensor.inner.get_size());
}

template <typename Primitive>
bool Conv::adopt(DnnlState &state,
                 const typename Primitive::primitive_desc &chosen, int count,
                 bool acceptReference) {
  if (!chosen)
    fail(ExitPlan, "oneDNN has no such convolution to {}", listed(outputDims));
  std::string implementation = chosen.impl_info_str();
  if (isReference(implementation) && !acceptReference)
    return false;
  logf(LogLevel::Debug, "convolution to {}: {}, {} of {} fused",
       listed(outputDims), implementation, count, kinds.size());
  input.inner = chosen.src_desc();
  weight.inner = chosen.weights_desc();
  output.inner = chosen.dst_desc();
  prepareReorder(state, input, true);
  prepareReorder(state, weight, true);
  prepareReorder(state, output, false);
  primitive =
      PreparedPrimitive(Primitive(chosen), chosen.scratchpad_desc(), state,
                        {{DNNL_ARG_SRC, input.inner},
                         {DNNL_ARG_WEIGHTS, weight.inner},
                         {DNNL_ARG_DST, output.inner}});
  operandOrder.clear();
  for (int i = 0; i < count; ++i)
    if (hasOperand(kinds[i])) {
      primitive.add(DNNL_ARG_ATTR_MULTIPLE_POST_OP(i) | DNNL_ARG_SRC_1,
                    operandDesc(i), state);
      operandOrder.push_back(i);
    }
  fused = count;
  return true;
}

/// Runs a reorder between two addresses.
static void reorder(DnnlState &state, Reordered &tensor, const void *from,
                    const void *to) {
  std::array<const void *, 2> addresses = {from, to};
  tensor.reorder.run(state, addresses);
}

const void *Conv::innerWeight(CleaveContext &context, const void *given) {
  if (!weight.needed())
    return given;
  if (reorderedWeight != given || !context.isConstant(given))
    reorder(*context.dnnl, weight, given, weight.buffer.data());
  reorderedWeight = given;
  return weight.buffer.data();
}

void Conv::runRest(CleaveContext &context, float *result,
                   const void *const *post) const {
  std::vector<ElementwiseStep> steps;
  for (size_t i = fused; i < kinds.size(); ++i)
    steps.push_back(
        {kinds[i],
         hasOperand(kinds[i]) ? static_cast<const float *>(post[i]) : nullptr,
         postStrides[i]});
  applyElementwise(result, outputDims, outputStrides, steps, context.threads);
}

void Conv::run(CleaveContext &context, const void *from, const void *weights,
               void *to, const void *const *post) {
  DnnlState &state = *context.dnnl;
  const void *x = input.needed() ? input.buffer.data() : from;
  const void *y = output.needed() ? output.buffer.data() : to;
  if (input.needed())
    reorder(state, input, from, x);
  std::array<const void *, 3 + CLEAVE_MAX_POST_OPS> addresses = {
      x, innerWeight(context, weights), y};
  size_t count = 3;
  for (int index : operandOrder)
    addresses[count++] = post[index];
  primitive.run(state, {addresses.data(), count});
  if (output.needed())
    reorder(state, output, y, to);
  if (fused < static_cast<int>(kinds.size()))
    runRest(context, static_cast<float *>(to), post);
}

void cleaveConv(CleaveContext *context, int32_t slot,
                const CleaveConvDesc *desc, const void *input,
                const void *weight, void *output, const void *const *post) {
  guarded(context, [&] {
    std::unique_ptr<LibraryOp> &op = context->slots.at(slot);
    if (!op)
      op = std::make_unique<Conv>(*context, *desc);
    static_cast<Conv &>(*op).run(*context, input, weight, output, post);
  });
}
