//===- Tensor.cpp - tensors of any strides --------------------------------===//

#include "cudnn/Convolution.h"

#include <algorithm>
#include <functional>

using namespace cudaemu;

static Element elementOf(const cudnn::Tensor &tensor) {
  switch (tensor.type) {
  case cudnn::Half:
    return Element::F16;
  case cudnn::BFloat16:
    return Element::BF16;
  case cudnn::Double:
    return Element::F64;
  default:
    return Element::F32;
  }
}

int64_t cudaemu::elements(const cudnn::Tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims)
    count *= dim;
  return count;
}

/// Calls run(place in memory, index, step of the index, count) for runs of
/// elements that are neighbours in memory: along the dimension of stride 1.
static void
forRuns(const cudnn::Tensor &tensor,
        const std::function<void(int64_t, int64_t, int64_t, int64_t)> &run) {
  size_t rank = tensor.dims.size(), along = rank;
  std::vector<int64_t> steps(rank, 1);
  for (size_t d = rank; d-- > 0;) {
    if (d + 1 < rank)
      steps[d] = steps[d + 1] * tensor.dims[d + 1];
    if (tensor.strides[d] == 1 &&
        (along == rank || tensor.dims[d] > tensor.dims[along]))
      along = d;
  }
  std::vector<int64_t> at(rank);
  for (;;) {
    int64_t place = 0, index = 0;
    for (size_t d = 0; d < rank; ++d) {
      place += at[d] * tensor.strides[d];
      index += at[d] * steps[d];
    }
    run(place, index, along < rank ? steps[along] : 1,
        along < rank ? tensor.dims[along] : 1);
    size_t d = rank;
    while (d-- > 0) {
      if (d == along)
        continue;
      if (++at[d] < tensor.dims[d])
        break;
      at[d] = 0;
    }
    if (d == ~size_t(0))
      return;
  }
}

std::vector<float> cudaemu::take(Context &context, const Work &work,
                                 const cudnn::Tensor &tensor,
                                 uint64_t address) {
  Element element = elementOf(tensor);
  std::vector<float> made(elements(tensor)), values;
  forRuns(tensor,
          [&](int64_t place, int64_t index, int64_t step, int64_t count) {
            values.resize(count);
            load(context, work, address + place * bytesOf(element), element,
                 count, values.data());
            for (int64_t k = 0; k < count; ++k)
              made[index + k * step] = values[k];
          });
  return made;
}

void cudaemu::put(Context &context, const Work &work,
                  const cudnn::Tensor &tensor, uint64_t address,
                  const std::vector<float> &from) {
  Element element = elementOf(tensor);
  std::vector<float> values;
  forRuns(tensor,
          [&](int64_t place, int64_t index, int64_t step, int64_t count) {
            values.resize(count);
            for (int64_t k = 0; k < count; ++k)
              values[k] = from[index + k * step];
            store(context, work, address + place * bytesOf(element), element,
                  count, values.data());
          });
}
