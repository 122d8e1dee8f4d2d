//===- ConvShape.cpp - descriptors of convolutions in oneDNN's terms ------===//

#include "runtime/library/ConvShape.h"

using dnnl::memory;

namespace cleave::rt {

memory::dims dimsOf(const CleaveTensorDesc &desc) {
  return memory::dims(desc.dims, desc.dims + desc.rank);
}
memory::dims stridesOf(const CleaveTensorDesc &desc) {
  return memory::dims(desc.strides, desc.strides + desc.rank);
}

memory::desc weightDesc(const CleaveConvDesc &desc) {
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

ConvWindow getWindow(const CleaveConvDesc &desc) {
  auto spatial = [&](const int64_t *values, int64_t minus = 0) {
    memory::dims result(values, values + desc.spatialRank);
    for (int64_t &value : result)
      value -= minus;
    return result;
  };
  return {spatial(desc.stride), spatial(desc.dilation, 1), spatial(desc.padLow),
          spatial(desc.padHigh)};
}

} // namespace cleave::rt
