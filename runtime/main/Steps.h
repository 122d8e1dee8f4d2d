//===- Steps.h - the steps of a run, one after the other ------------------===//
#ifndef CLEAVE_RUNTIME_MAIN_STEPS_H
#define CLEAVE_RUNTIME_MAIN_STEPS_H

#include "runtime/data/Batches.h"
#include "runtime/main/Checkpoints.h"
#include "runtime/main/Settings.h"
#include "runtime/main/StepDisplay.h"
#include "runtime/main/StepLog.h"

namespace cleave::rt {

/// The samples of a run and their order.
struct TrainingData {
  DataSet samples;
  Batches batches;
};

class Steps {
public:
  /// `data` may be null: all steps are on the same inputs. Throws Failure where
  /// the options do not fit the program; ranks have yet to agree on it.
  Steps(const RunOptions &options, const Manifest &manifest, RankRun &run,
        TrainingData *data, Transport &transport);

  /// Runs the steps that are not done yet. Returns the times of those behind
  /// the warm-up, in milliseconds. Throws AgreedFailure (ExitStopped) when one
  /// of the ranks was asked to stop. All ranks call it.
  std::vector<double> execute();

private:
  void start();
  void stop();
  bool meet();
  void startTrace();
  /// Sets what is this step's own; returns how many samples count.
  int64_t prepare();
  double runStep();
  void tell(int64_t samples, bool isShown);

  const RunOptions &options;
  RankRun &run;
  TrainingData *data;
  Transport &transport;
  Settings settings;
  Checkpoints checkpoints;
  StepReader reader;
  std::unique_ptr<StepLog> log;         ///< of the first rank
  std::unique_ptr<StepDisplay> display; ///< of the first rank
  Progress done;
  int64_t total = 0;
};

} // namespace cleave::rt

#endif
