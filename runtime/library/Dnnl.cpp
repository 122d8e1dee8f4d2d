//===- Dnnl.cpp - what oneDNN operations share ----------------------------===//
//
// The C entry points execute a primitive without building a map of arguments.
//
//===----------------------------------------------------------------------===//

#include "runtime/library/Dnnl.h"

#include "runtime/support/Dtype.h"

namespace cleave::rt {

PreparedPrimitive::PreparedPrimitive(
    const dnnl::primitive &primitive, const dnnl::memory::desc &scratchpadDesc,
    DnnlState &state,
    std::initializer_list<std::pair<int, dnnl::memory::desc>> arguments)
    : primitive(primitive), scratchpadBytes(scratchpadDesc.get_size()) {
  if (scratchpadBytes) {
    scratchpad = dnnl::memory(scratchpadDesc, state.engine, nullptr);
    args.push_back({DNNL_ARG_SCRATCHPAD, scratchpad.get()});
  }
  for (const auto &[argument, desc] : arguments)
    add(argument, desc, state);
}

void PreparedPrimitive::add(int argument, const dnnl::memory::desc &desc,
                            DnnlState &state) {
  memories.emplace_back(desc, state.engine, nullptr);
  args.push_back({argument, memories.back().get()});
}

void PreparedPrimitive::run(DnnlState &state,
                            std::span<const void *const> addresses) {
  for (size_t i = 0; i < memories.size(); ++i)
    memories[i].set_data_handle(const_cast<void *>(addresses[i]));
  if (scratchpadBytes)
    scratchpad.set_data_handle(state.scratchpad(scratchpadBytes));
  dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), state.stream.get(),
                             static_cast<int>(args.size()), args.data());
  if (status != dnnl_success)
    fail(ExitDevice, "oneDNN failed with status {}", static_cast<int>(status));
}

dnnl::memory::desc anyLayout(const dnnl::memory::desc &desc) {
  return dnnl::memory::desc(desc.dims(), desc.data_type(),
                            dnnl::memory::format_tag::any);
}

bool isReference(const std::string &implementation) {
  return implementation.find("ref") != std::string::npos;
}

void verifyF32(const CleaveTensorDesc &desc, const char *what) {
  if (desc.dtype != CLEAVE_F32)
    fail(ExitPlan, "{} has element type {}, expected f32", what,
         dtypeInfo(desc.dtype).name);
}

} // namespace cleave::rt
