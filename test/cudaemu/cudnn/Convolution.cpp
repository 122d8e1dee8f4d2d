//===- Convolution.cpp - run a convolution --------------------------------===//
//
// Each image and group is a product with the matrix of its patches: a row for
// each channel and place in the filter, a column for each place in the result.
//   forward   y = w patches
//   data      patches of dx = w^T dy, added up where they overlap
//   filter    dw = dy patches^T
// Single precision computes in tf32 unless the math type is FMA, as a device
// that has it does.
//
//===----------------------------------------------------------------------===//

#include "cudnn/Convolution.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace cudaemu;
using Matrix = std::vector<float>;

int64_t cudaemu::outputSize(const Convolution &c, size_t dim) {
  const cudnn::ConvolutionDescriptor &d = c.descriptor;
  int64_t filter = (c.w.dims[dim + 2] - 1) * d.dilations[dim] + 1;
  return (c.x.dims[dim + 2] + 2 * d.pads[dim] - filter) / d.strides[dim] + 1;
}

std::string cudaemu::problem(const Convolution &c) {
  size_t rank = c.x.dims.size();
  if (rank < 3 || c.w.dims.size() != rank || c.y.dims.size() != rank ||
      c.descriptor.pads.size() != rank - 2)
    return "x, w, y and the convolution have different ranks";
  for (const cudnn::Tensor *t : {&c.x, &c.w, &c.y})
    if (t->type != cudnn::Float && t->type != cudnn::Half &&
        t->type != cudnn::BFloat16)
      return "type " + std::to_string(t->type) + " is not supported";
  if (c.descriptor.computeType != cudnn::Float)
    return "compute type " + std::to_string(c.descriptor.computeType) +
           " is not supported";
  if (c.x.dims[1] != c.w.dims[1] * c.groups() || c.w.dims[0] % c.groups() ||
      c.y.dims[1] != c.w.dims[0] || c.x.dims[0] != c.y.dims[0])
    return "the channels of x, w and y do not go together in " +
           std::to_string(c.groups()) + " groups";
  for (size_t d = 0; d < c.spatial(); ++d)
    if (c.y.dims[d + 2] != outputSize(c, d))
      return "y has " + std::to_string(c.y.dims[d + 2]) + " in dimension " +
             std::to_string(d + 2) + ", expected " +
             std::to_string(outputSize(c, d));
  return "";
}

namespace {
/// Sizes of the products of an image and a group.
struct Sizes {
  int64_t channels, results, taps, inputs, outputs;
  explicit Sizes(const Convolution &c)
      : channels(c.w.dims[1]), results(c.w.dims[0] / c.groups()), taps(1),
        inputs(1), outputs(1) {
    for (size_t d = 0; d < c.spatial(); ++d) {
      taps *= c.w.dims[d + 2];
      inputs *= c.x.dims[d + 2];
      outputs *= c.y.dims[d + 2];
    }
  }
  int64_t rows() const { return channels * taps; }
};

/// Of each place in the filter and the result the place in x, or -1.
std::vector<int64_t> places(const Convolution &c, const Sizes &s) {
  std::vector<int64_t> made(s.taps * s.outputs);
  const cudnn::ConvolutionDescriptor &d = c.descriptor;
  for (int64_t tap = 0; tap < s.taps; ++tap)
    for (int64_t out = 0; out < s.outputs; ++out) {
      int64_t place = 0, step = 1, restTap = tap, restOut = out;
      for (size_t k = c.spatial(); k-- > 0;) {
        int64_t size = c.w.dims[k + 2];
        int64_t t = restTap % size, o = restOut % c.y.dims[k + 2];
        restTap /= size;
        restOut /= c.y.dims[k + 2];
        if (d.mode == cudnn::Convolve)
          t = size - 1 - t;
        int64_t in = o * d.strides[k] - d.pads[k] + t * d.dilations[k];
        if (in < 0 || in >= c.x.dims[k + 2])
          place = -1;
        if (place >= 0)
          place += in * step;
        step *= c.x.dims[k + 2];
      }
      made[tap * s.outputs + out] = place;
    }
  return made;
}

Matrix transposed(const float *from, int64_t rows, int64_t cols) {
  Matrix made(rows * cols);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t col = 0; col < cols; ++col)
      made[col * rows + r] = from[r * cols + col];
  return made;
}

/// The products of one image and group, on its parts of x, w and y.
void runPart(Convolution::Kind kind, const Sizes &s,
             const std::vector<int64_t> &from, float *x, float *w, float *y) {
  Matrix patches(s.rows() * s.outputs);
  auto forPatches = [&](auto f) {
    for (int64_t channel = 0; channel < s.channels; ++channel)
      for (size_t k = 0; k < from.size(); ++k)
        if (from[k] >= 0)
          f(patches[channel * from.size() + k],
            x[channel * s.inputs + from[k]]);
  };
  if (kind != Convolution::BackwardData)
    forPatches([](float &patch, float in) { patch = in; });
  switch (kind) {
  case Convolution::Forward:
    return multiply(s.results, s.outputs, s.rows(), w, patches.data(), y);
  case Convolution::BackwardFilter:
    return multiply(s.results, s.rows(), s.outputs, y,
                    transposed(patches.data(), s.rows(), s.outputs).data(), w);
  case Convolution::BackwardData:
    multiply(s.rows(), s.outputs, s.results,
             transposed(w, s.results, s.rows()).data(), y, patches.data());
    forPatches([](float patch, float &in) { in += patch; });
  }
}

float activate(const cudnn::ActivationDescriptor &how, float value) {
  switch (how.mode) {
  case cudnn::Relu:
    return std::max(value, 0.0f);
  case cudnn::ClippedRelu:
    return std::clamp(value, 0.0f, static_cast<float>(how.coefficient));
  case cudnn::Sigmoid:
    return 1 / (1 + std::exp(-value));
  case cudnn::Tanh:
    return std::tanh(value);
  default:
    return value;
  }
}
} // namespace

/// alpha result + beta of what was there, then what is fused.
static void finish(const Convolution &c, Context &context, const Work &work,
                   Matrix &result) {
  for (float &value : result)
    value *= c.alpha;
  const cudnn::Tensor &out = c.kind == Convolution::Forward        ? c.y
                             : c.kind == Convolution::BackwardData ? c.x
                                                                   : c.w;
  uint64_t address = c.kind == Convolution::Forward        ? c.addressY
                     : c.kind == Convolution::BackwardData ? c.addressX
                                                           : c.addressW;
  auto add = [&](float factor, const cudnn::Tensor &tensor, uint64_t at) {
    if (factor == 0)
      return;
    Matrix more = take(context, work, tensor, at);
    for (size_t k = 0; k < result.size(); ++k)
      result[k] += factor * more[k];
  };
  if (!c.isFused)
    add(c.beta, out, address);
  else {
    add(c.alphaZ, c.z, c.addressZ);
    Matrix bias = take(context, work, c.bias, c.addressBias);
    size_t channels = bias.size(), inner = 1;
    for (size_t d = 2; d < c.y.dims.size(); ++d)
      inner *= c.y.dims[d];
    for (size_t k = 0; k < result.size(); ++k)
      result[k] =
          activate(c.activation, result[k] + bias[k / inner % channels]);
  }
  put(context, work, out, address, result);
}

void cudaemu::run(const Convolution &c, Context &context, Work &work) {
  if (c.workspaceBytes)
    std::memset(context.write(work, c.workspace, c.workspaceBytes), 0xff,
                c.workspaceBytes);
  using Kind = Convolution::Kind;
  auto input = [&](const cudnn::Tensor &tensor, uint64_t address, Kind made) {
    if (c.kind == made)
      return Matrix(elements(tensor));
    Matrix values = take(context, work, tensor, address);
    if (tensor.type == cudnn::Float && c.descriptor.mathType != cudnn::FmaMath)
      std::transform(values.begin(), values.end(), values.begin(), roundToTf32);
    return values;
  };
  Matrix x = input(c.x, c.addressX, Kind::BackwardData);
  Matrix w = input(c.w, c.addressW, Kind::BackwardFilter);
  Matrix y = input(c.y, c.addressY, Kind::Forward);
  Sizes s(c);
  std::vector<int64_t> from = places(c, s);
  for (int64_t image = 0; image < c.x.dims[0]; ++image)
    for (int64_t group = 0; group < c.groups(); ++group) {
      int64_t part = image * c.groups() + group;
      runPart(c.kind, s, from, x.data() + part * s.channels * s.inputs,
              w.data() + group * s.results * s.rows(),
              y.data() + part * s.results * s.outputs);
    }
  finish(c, context, work,
         c.kind == Kind::Forward        ? y
         : c.kind == Kind::BackwardData ? x
                                        : w);
}
