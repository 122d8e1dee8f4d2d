//===- DataSet.h - samples of a training run ------------------------------===//
//
// A batch has B samples: B is the size of dim 0 of the model's first input that
// has one. An input with k B rows in dim 0 takes k rows a sample. An array of
// the data has the rows of all samples in dim 0; its other dims are the
// input's.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_DATA_DATASET_H
#define CLEAVE_RUNTIME_DATA_DATASET_H

#include "runtime/Arrays.h"
#include "runtime/program/Manifest.h"

#include <optional>
#include <span>

namespace cleave::rt {

/// The array of each input, in the order of the manifest; none for an input
/// that is the same in all steps.
using InputData = std::vector<std::optional<ArrayView>>;

/// B; 0 where no input has a dim.
int64_t findBatch(const Manifest &manifest);

class DataSet {
public:
  /// The part of `rank`. Throws Failure (ExitMismatch) where arrays do not fit
  /// their inputs or each other.
  DataSet(InputData data, const Manifest &manifest, int rank);

  int64_t samples() const { return sampleCount; }
  /// Samples of a step.
  int64_t batch() const { return batchSize; }

  /// Writes the rank's part of a batch of the samples `ids`; false if the input
  /// of the port has no data.
  bool take(const PortInfo &port, std::span<const int64_t> ids,
            std::byte *local) const;
  /// Has the system read that part in the background.
  void readAhead(const PortInfo &port, std::span<const int64_t> ids) const;

private:
  /// Calls fn(row of the part, address of the whole row in the data).
  template <typename Fn>
  void forEachRow(const PortInfo &port, std::span<const int64_t> ids,
                  Fn fn) const;
  int64_t countSamples(const ArrayView &array, const TensorInfo &input) const;
  int64_t rowBytes(const TensorInfo &input) const;

  InputData data;
  const Manifest &manifest;
  const std::vector<int64_t> &coords;
  int64_t batchSize = 0, sampleCount = 0;
};

} // namespace cleave::rt

#endif
