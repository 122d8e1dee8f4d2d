//===- ConvShape.h - descriptors of convolutions in oneDNN's terms --------===//

#ifndef CLEAVE_RUNTIME_LIBRARY_CONVSHAPE_H
#define CLEAVE_RUNTIME_LIBRARY_CONVSHAPE_H

#include "runtime/Abi.h"

#include <oneapi/dnnl/dnnl.hpp>

namespace cleave::rt {

dnnl::memory::dims dimsOf(const CleaveTensorDesc &desc);
dnnl::memory::dims stridesOf(const CleaveTensorDesc &desc);

/// The weights as oneDNN names their dims: [g, O, I, k...], g only if grouped.
/// ONNX keeps transposed weights as [I, O/g, k...]: same bytes, other strides.
dnnl::memory::desc weightDesc(const CleaveConvDesc &desc);

/// Per spatial dim; a dilation of 0 is dense.
struct ConvWindow {
  dnnl::memory::dims stride, dilation, low, high;
};
ConvWindow getWindow(const CleaveConvDesc &desc);

} // namespace cleave::rt

#endif
