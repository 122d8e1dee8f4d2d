//===- ConvWeightGrad.cpp - gradients of weights by oneDNN ----------------===//
//
// oneDNN chooses the layouts; reorders lead from and to the plain layouts of
// the program.
//
//===----------------------------------------------------------------------===//

#include "runtime/library/ConvShape.h"
#include "runtime/library/Dnnl.h"
#include "runtime/library/Reordered.h"
#include "runtime/support/Log.h"

#include <array>

using namespace cleave::rt;
using dnnl::memory;

namespace {
class ConvWeightGrad final : public LibraryOp {
public:
  ConvWeightGrad(CleaveContext &context, const CleaveConvDesc &desc);
  void run(CleaveContext &context, const void *input, const void *doutput,
           void *dweight);

private:
  Reordered input, doutput, dweight;
  PreparedPrimitive primitive;
};
} // namespace

ConvWeightGrad::ConvWeightGrad(CleaveContext &context,
                               const CleaveConvDesc &desc) {
  verifyF32(desc.input, "the input of a convolution");
  verifyF32(desc.weight, "the gradient of a convolution's weight");
  verifyF32(desc.output, "the gradient of a convolution's output");
  DnnlState &state = *context.dnnl;
  constexpr auto f32 = memory::data_type::f32;
  memory::desc plainInput(dimsOf(desc.input), f32, stridesOf(desc.input));
  memory::desc plainOutput(dimsOf(desc.output), f32, stridesOf(desc.output));
  memory::desc plainWeight = weightDesc(desc);
  memory::desc x = anyLayout(plainInput), w = anyLayout(plainWeight),
               y = anyLayout(plainOutput);
  auto [stride, dilation, low, high] = getWindow(desc);
  constexpr auto direct = dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, x, w, y, stride, dilation,
       low, high},
      attr, state.engine, true);
  if (!forward)
    fail(ExitPlan, "oneDNN has no such convolution to {}",
         listed(dimsOf(desc.output)));
  dnnl::convolution_backward_weights::primitive_desc chosen(
      {direct, x, w, y, stride, dilation, low, high}, attr, state.engine,
      forward, true);
  if (!chosen)
    fail(ExitPlan,
         "oneDNN has no gradient of the weight of a convolution to {}",
         listed(dimsOf(desc.output)));
  std::string implementation = chosen.impl_info_str();
  if (isReference(implementation))
    logf(LogLevel::Info,
         "the gradient of a convolution's weight runs in oneDNN's reference "
         "code, for the output {}",
         listed(dimsOf(desc.output)));
  input.prepare(state, plainInput, chosen.src_desc(), Reordered::Inward);
  doutput.prepare(state, plainOutput, chosen.diff_dst_desc(),
                  Reordered::Inward);
  dweight.prepare(state, plainWeight, chosen.diff_weights_desc(),
                  Reordered::Outward);
  primitive = PreparedPrimitive(dnnl::convolution_backward_weights(chosen),
                                chosen.scratchpad_desc(), state,
                                {{DNNL_ARG_SRC, input.innerDesc()},
                                 {DNNL_ARG_DIFF_DST, doutput.innerDesc()},
                                 {DNNL_ARG_DIFF_WEIGHTS, dweight.innerDesc()}});
}

void ConvWeightGrad::run(CleaveContext &context, const void *from,
                         const void *gradient, void *to) {
  DnnlState &state = *context.dnnl;
  if (input.needed())
    input.run(state, from);
  if (doutput.needed())
    doutput.run(state, gradient);
  std::array<const void *, 3> addresses = {input.innerAddress(from),
                                           doutput.innerAddress(gradient),
                                           dweight.innerAddress(to)};
  primitive.run(state, addresses);
  if (dweight.needed())
    dweight.run(state, to);
}

void cleaveConvWeightGrad(CleaveContext *context, int32_t slot,
                          const CleaveConvDesc *desc, const void *input,
                          const void *doutput, void *dweight) {
  guarded(context, [&] {
    if (context->device)
      return context->device->convWeightGrad(slot, *desc, input, doutput,
                                             dweight);
    std::unique_ptr<LibraryOp> &op = context->slots.at(slot);
    if (!op)
      op = std::make_unique<ConvWeightGrad>(*context, *desc);
    static_cast<ConvWeightGrad &>(*op).run(*context, input, doutput, dweight);
  });
}
