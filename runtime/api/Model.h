//===- Model.h - an open model: its ranks of this process -----------------===//
#ifndef CLEAVE_RUNTIME_API_MODEL_H
#define CLEAVE_RUNTIME_API_MODEL_H

#include "runtime/api/Worker.h"
#include "runtime/api/cleave.h"
#include "runtime/main/RankRun.h"

#include <functional>

/// What stands behind the C interface; it says what holds. Errors are thrown as
/// Failure.
struct CleaveModel {
  CleaveModel(const char *out, const CleaveOptions &options);
  ~CleaveModel();
  CleaveModel(const CleaveModel &) = delete;
  CleaveModel &operator=(const CleaveModel &) = delete;

  void run(int32_t bucket, const void *const *wholeInputs,
           void *const *wholeOutputs);

  /// What a bucket takes and gives.
  struct Signature {
    std::vector<CleaveTensor> inputs, outputs;
  };

  int world() const { return buckets.front().world; }
  int rank() const { return ownRank; }
  const std::vector<Signature> &getSignatures() const { return signatures; }

private:
  struct Rank {
    std::unique_ptr<cleave::rt::Transport> transport;
    std::vector<std::unique_ptr<cleave::rt::RankRun>> runs; ///< by bucket
    cleave::rt::Worker worker;
  };

  void openHere(const CleaveOptions &options);
  void openLaunched(const CleaveOptions &options);
  void start(Rank &rank, int threads);
  void close();
  /// Does a job on each rank's thread; throws the failure that the others
  /// follow from.
  void onAll(const std::function<void(Rank &)> &job);
  /// Lets the others go on without a rank that has failed alone.
  void leave(Rank &rank, const cleave::rt::Failure &failure);

  cleave::rt::Buckets buckets;
  std::vector<Signature> signatures;
  bool isHere = true; ///< all ranks are in this process
  int ownRank = 0;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::mutex mutex;
  std::optional<cleave::rt::Failure> broken; ///< why it cannot be run again
};

#endif
