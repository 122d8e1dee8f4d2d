//===- DataSet.cpp - samples of a training run ----------------------------===//

#include "runtime/data/DataSet.h"

#include "runtime/program/Slices.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"
#include "runtime/support/MappedFile.h"

namespace cleave::rt {

/// Dims behind the first one.
static std::span<const int64_t> rest(const std::vector<int64_t> &shape) {
  return std::span(shape).subspan(1);
}

int64_t findBatch(const Manifest &manifest) {
  for (const TensorInfo &input : manifest.inputs)
    if (!input.shape.empty())
      return input.shape[0];
  return 0;
}

DataSet::DataSet(InputData arrays, const Manifest &manifest, int rank)
    : data(std::move(arrays)), manifest(manifest),
      coords(manifest.ranks[rank].coords), batchSize(findBatch(manifest)) {
  const TensorInfo *first = nullptr;
  for (size_t i = 0; i < data.size(); ++i) {
    if (!data[i])
      continue;
    const TensorInfo &input = manifest.inputs[i];
    int64_t count = countSamples(*data[i], input);
    if (first && count != sampleCount)
      fail(ExitMismatch, "--data: input '{}' has {}, but '{}' has {}",
           input.name, counted(count, "sample"), first->name, sampleCount);
    sampleCount = count;
    first = first ? first : &input;
  }
}

int64_t DataSet::countSamples(const ArrayView &array,
                              const TensorInfo &input) const {
  if (input.shape.empty() || batchSize == 0 || input.shape[0] % batchSize != 0)
    fail(
        ExitMismatch,
        "--data: input '{}' {} has no batch of {} in dim 0: give it by --input",
        input.name, listed(input.shape), batchSize);
  int64_t rows = input.shape[0] / batchSize;
  bool fits = array.shape.size() == input.shape.size() &&
              std::ranges::equal(rest(array.shape), rest(input.shape));
  if (!fits || array.dtype != input.dtype || array.shape[0] % rows != 0 ||
      array.shape[0] == 0)
    fail(
        ExitMismatch,
        "--data: input '{}' is {} {}, expected {} [samples{}{}{}]", input.name,
        dtypeInfo(array.dtype).name, listed(array.shape),
        dtypeInfo(input.dtype).name, rows > 1 ? fmt::format(" x {}", rows) : "",
        input.shape.size() > 1 ? ", " : "", fmt::join(rest(input.shape), ", "));
  return array.shape[0] / rows;
}

int64_t DataSet::rowBytes(const TensorInfo &input) const {
  return elementCount(rest(input.shape)) * dtypeBytes(input.dtype);
}

template <typename Fn>
void DataSet::forEachRow(const PortInfo &port, std::span<const int64_t> ids,
                         Fn fn) const {
  const TensorInfo &input = manifest.inputs[port.index];
  Slice slice = sliceOf(port, input.shape, coords, manifest.axisSizes);
  int64_t rows = input.shape[0] / batchSize, bytes = rowBytes(input);
  for (int64_t i = 0; i < slice.valid[0]; ++i) {
    int64_t row = slice.start[0] + i;
    int64_t from = ids[row / rows] * rows + row % rows;
    fn(i, data[port.index]->data.subspan(from * bytes, bytes));
  }
}

bool DataSet::take(const PortInfo &port, std::span<const int64_t> ids,
                   std::byte *local) const {
  if (!data[port.index])
    return false;
  const TensorInfo &input = manifest.inputs[port.index];
  Slice slice = sliceOf(port, input.shape, coords, manifest.axisSizes);
  Slice inner{{slice.start.begin() + 1, slice.start.end()},
              {slice.valid.begin() + 1, slice.valid.end()}};
  int64_t bytes = dtypeBytes(input.dtype);
  int64_t localBytes = elementCount(rest(port.shape)) * bytes;
  forEachRow(port, ids, [&](int64_t row, std::span<const std::byte> whole) {
    takeSlice(whole.data(), rest(input.shape), local + row * localBytes,
              rest(port.shape), inner, bytes);
  });
  return true;
}

void DataSet::readAhead(const PortInfo &port,
                        std::span<const int64_t> ids) const {
  if (data[port.index] && data[port.index]->isMapped)
    forEachRow(port, ids, [](int64_t, std::span<const std::byte> whole) {
      rt::readAhead(whole);
    });
}

} // namespace cleave::rt
