//===- Conv.cpp - convolutions by oneDNN ----------------------------------===//
//
// oneDNN chooses the layouts; reorders lead from and to the plain layouts of
// the program. Weights that no step writes are reordered once; factors of their
// channels that no step writes either are multiplied in on that way, and what
// is added to channels next is a bias: this is how a BatchNormalization costs
// nothing. A tensor that is added and lies as the result does is put there
// first, or lies there already; oneDNN sums into it. Post-operations that its
// fast code refuses run as a pass over the plain result.
//
// 3x3 windows with constant weights run by Winograd's algorithm (Lavin and
// Gray, arXiv 1509.09308) where oneDNN has it: half the time, and as exact, for
// sums are shorter.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/library/ConvShape.h"
#include "runtime/library/Dnnl.h"
#include "runtime/library/PostOps.h"
#include "runtime/library/Reordered.h"
#include "runtime/support/Log.h"

#include <array>
#include <cstring>

using namespace cleave::rt;
using dnnl::memory;

namespace {
class Conv final : public LibraryOp {
public:
  /// `weight`, `post`: the operands of the first call.
  Conv(CleaveContext &context, const CleaveConvDesc &desc, const void *weight,
       const void *const *post);
  void run(CleaveContext &context, const void *input, const void *weight,
           void *output, const void *const *post);

private:
  bool prepare(DnnlState &state, const CleaveConvDesc &desc, int fused,
               bool acceptReference, bool winograd = false);
  void foldScale(const void *scale);
  bool isBias(int index) const;
  bool suitsWinograd(const CleaveConvDesc &desc, int count) const;
  template <typename Primitive>
  bool adopt(DnnlState &state, const typename Primitive::primitive_desc &chosen,
             int fused, bool acceptReference);
  memory::desc operandDesc(int index) const;
  memory::desc biasDesc() const {
    return memory::desc({outputDims[1]}, memory::data_type::f32,
                        dnnl::memory::format_tag::x);
  }
  bool isPerChannel(int index) const;
  bool isSum(int index) const;
  bool suitsFastCode(int index) const;
  void keepOperands(void *to, const void *const *post);
  void runRest(CleaveContext &context, float *output,
               const void *const *post) const;

  memory::dims outputDims, outputStrides;
  std::vector<int32_t> kinds;
  /// Strides of each post-operation's operand along the dims of the output.
  std::vector<memory::dims> postStrides;
  memory::desc plainInput, plainWeight, plainOutput;
  Reordered input, output;
  ReorderedWeight weight;
  int fused = 0;       ///< post-operations that are done with the convolution
  int folded = 0;      ///< of these, those in the weights: 0 or 1
  bool biased = false; ///< whether the next of these is the bias
  int summed = -1;     ///< the post-operation that oneDNN sums into the output
  std::vector<int> operandOrder;
  AlignedBuffer kept; ///< an operand that the output overwrites
  PreparedPrimitive primitive;
};
} // namespace

static bool isDense(const CleaveTensorDesc &desc) {
  int64_t stride = 1;
  for (int d = desc.rank; d-- > 0; stride *= desc.dims[d])
    if (desc.dims[d] != 1 && desc.strides[d] != stride)
      return false;
  return true;
}

Conv::Conv(CleaveContext &context, const CleaveConvDesc &desc,
           const void *weights, const void *const *post) {
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
  bool isConstant = context.isConstant(weights);
  if (isConstant && suited > 0 && kinds[0] == CLEAVE_POST_MUL &&
      isPerChannel(0) && context.isConstant(post[0]) && isDense(desc.weight))
    foldScale(post[0]);
  biased = suited > folded && isBias(folded);
  if (isConstant && suitsWinograd(desc, suited) &&
      prepare(*context.dnnl, desc, suited, false, true))
    return;
  for (int count = suited; count >= folded; --count)
    if (prepare(*context.dnnl, desc, count, false))
      return;
  logf(LogLevel::Info, "a convolution to {} runs in oneDNN's reference code",
       listed(outputDims));
  prepare(*context.dnnl, desc, folded, true);
}

/// Multiplies the weights of an output channel, a row, by its factor.
void Conv::foldScale(const void *scale) {
  std::vector<float> factors(outputDims[1]);
  for (size_t i = 0; i < factors.size(); ++i)
    factors[i] = static_cast<const float *>(scale)[i * postStrides[0][1]];
  weight.scaleRows(std::move(factors));
  folded = 1;
}

/// Adds one value a channel.
bool Conv::isBias(int index) const {
  return kinds[index] == CLEAVE_POST_ADD && isPerChannel(index) &&
         (postStrides[index][1] == 1 || outputDims[1] == 1);
}

/// From 64 channels on; what follows may not read other operands than a bias.
bool Conv::suitsWinograd(const CleaveConvDesc &desc, int count) const {
  bool suits = !desc.transposed && desc.groups == 1 && desc.spatialRank == 2 &&
               desc.weight.dims[0] >= 64 && desc.weight.dims[1] >= 64;
  for (int d = 0; suits && d < 2; ++d)
    suits = desc.weight.dims[2 + d] == 3 && desc.stride[d] == 1 &&
            desc.dilation[d] == 1;
  for (int i = folded + biased; suits && i < count; ++i)
    suits = !hasOperand(kinds[i]);
  return suits;
}

/// A scalar, or one value a channel.
bool Conv::isPerChannel(int index) const {
  const memory::dims &strides = postStrides[index];
  for (size_t d = 0; d < strides.size(); ++d)
    if (strides[d] != 0 && (d != 1 || strides[d] != 1))
      return false;
  return true;
}

/// Adds a tensor that lies as the output does.
bool Conv::isSum(int index) const {
  if (kinds[index] != CLEAVE_POST_ADD || isPerChannel(index))
    return false;
  for (size_t d = 0; d < outputDims.size(); ++d)
    if (outputDims[d] != 1 && postStrides[index][d] != outputStrides[d])
      return false;
  return true;
}

/// Of sums, the first.
bool Conv::suitsFastCode(int index) const {
  if (!hasOperand(kinds[index]) || isPerChannel(index))
    return true;
  for (int i = 0; i < index; ++i)
    if (isSum(i))
      return false;
  return isSum(index);
}

memory::desc Conv::operandDesc(int index) const {
  memory::dims dims(outputDims.size(), 1), strides(outputDims.size(), 1);
  if (postStrides[index][1] != 0)
    dims[1] = outputDims[1];
  strides[0] = dims[1];
  return memory::desc(dims, memory::data_type::f32, strides);
}

bool Conv::prepare(DnnlState &state, const CleaveConvDesc &desc, int count,
                   bool acceptReference, bool winograd) {
  plainInput = memory::desc(dimsOf(desc.input), memory::data_type::f32,
                            stridesOf(desc.input));
  plainWeight = weightDesc(desc);
  plainOutput = memory::desc(outputDims, memory::data_type::f32, outputStrides);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::post_ops ops;
  summed = -1;
  int first = std::min(folded + biased, count);
  for (int i = first; i < count; ++i)
    if (isSum(i)) {
      ops.append_sum(1.f);
      summed = i;
    } else {
      appendPostOp(ops, kinds[i], operandDesc(i));
    }
  attr.set_post_ops(ops);

  auto [stride, dilation, low, high] = getWindow(desc);
  memory::desc x = anyLayout(plainInput), w = anyLayout(plainWeight),
               y = anyLayout(plainOutput), bias;
  if (first > folded)
    bias = biasDesc();
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
  dnnl::algorithm algorithm = winograd ? dnnl::algorithm::convolution_winograd
                                       : dnnl::algorithm::convolution_direct;
  dnnl::convolution_forward::desc operation(forward, algorithm, x, w, bias, y,
                                            stride, dilation, low, high);
  dnnl::convolution_forward::primitive_desc chosen(operation, attr,
                                                   state.engine, true);
  return adopt<dnnl::convolution_forward>(state, chosen, count,
                                          acceptReference);
}

template <typename Primitive>
bool Conv::adopt(DnnlState &state,
                 const typename Primitive::primitive_desc &chosen, int count,
                 bool acceptReference) {
  if (!chosen && !acceptReference)
    return false;
  if (!chosen)
    fail(ExitPlan, "oneDNN has no such convolution to {}", listed(outputDims));
  std::string implementation = chosen.impl_info_str();
  bool isMoved = chosen.dst_desc() != plainOutput;
  if ((isReference(implementation) && !acceptReference) ||
      (summed >= 0 && isMoved))
    return false;
  logf(LogLevel::Debug, "convolution to {}: {}, {} of {} fused",
       listed(outputDims), implementation, count, kinds.size());
  input.prepare(state, plainInput, chosen.src_desc(), Reordered::Inward);
  weight.prepare(state, plainWeight, chosen.weights_desc(), Reordered::Inward);
  output.prepare(state, plainOutput, chosen.dst_desc(), Reordered::Outward);
  primitive =
      PreparedPrimitive(Primitive(chosen), chosen.scratchpad_desc(), state,
                        {{DNNL_ARG_SRC, input.innerDesc()},
                         {DNNL_ARG_WEIGHTS, weight.innerDesc()},
                         {DNNL_ARG_DST, output.innerDesc()}});
  operandOrder.clear();
  for (int i = folded; i < count; ++i) {
    if (!hasOperand(kinds[i]) || i == summed)
      continue;
    int op = i - folded - biased;
    int argument = op < 0 ? DNNL_ARG_BIAS
                          : DNNL_ARG_ATTR_MULTIPLE_POST_OP(op) | DNNL_ARG_SRC_1;
    primitive.add(argument, op < 0 ? biasDesc() : operandDesc(i), state);
    operandOrder.push_back(i);
  }
  fused = count;
  return true;
}

/// Puts what is summed into the output, and what the output overwrites aside.
void Conv::keepOperands(void *to, const void *const *post) {
  size_t bytes = plainOutput.get_size();
  if (summed >= 0 && post[summed] != to)
    std::memcpy(to, post[summed], bytes);
  for (size_t i = fused; i < kinds.size(); ++i)
    if (hasOperand(kinds[i]) && post[i] == to) {
      if (kept.size() == 0)
        kept = AlignedBuffer(bytes);
      std::memcpy(kept.data(), to, bytes);
    }
}

void Conv::runRest(CleaveContext &context, float *result,
                   const void *const *post) const {
  std::vector<ElementwiseStep> steps;
  for (size_t i = fused; i < kinds.size(); ++i) {
    const void *operand = nullptr;
    if (hasOperand(kinds[i]))
      operand = post[i] == result ? kept.data() : post[i];
    steps.push_back(
        {kinds[i], static_cast<const float *>(operand), postStrides[i]});
  }
  applyElementwise(result, outputDims, outputStrides, steps, context.threads);
}

void Conv::run(CleaveContext &context, const void *from, const void *weights,
               void *to, const void *const *post) {
  DnnlState &state = *context.dnnl;
  if (input.needed())
    input.run(state, from);
  keepOperands(to, post);
  std::array<const void *, 3 + CLEAVE_MAX_POST_OPS> addresses = {
      input.innerAddress(from), weight.get(context, weights),
      output.innerAddress(to)};
  size_t count = 3;
  for (int index : operandOrder)
    addresses[count++] = post[index];
  primitive.run(state, {addresses.data(), count});
  if (output.needed())
    output.run(state, to);
  if (fused < static_cast<int>(kinds.size()))
    runRest(context, static_cast<float *>(to), post);
}

void cleaveConv(CleaveContext *context, int32_t slot,
                const CleaveConvDesc *desc, const void *input,
                const void *weight, void *output, const void *const *post) {
  guarded(context, [&] {
    if (context->device)
      return context->device->conv(slot, *desc, input, weight, output, post);
    std::unique_ptr<LibraryOp> &op = context->slots.at(slot);
    if (!op)
      op = std::make_unique<Conv>(*context, *desc, weight, post);
    static_cast<Conv &>(*op).run(*context, input, weight, output, post);
  });
}
