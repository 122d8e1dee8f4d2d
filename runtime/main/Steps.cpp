//===- Steps.cpp - the steps of a run, one after the other ----------------===//
//
// Ranks meet before each step, so that latency is that of the slowest one, and
// agree there on whether to stop and whether figures are wanted.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Steps.h"

#include "runtime/main/Agree.h"
#include "runtime/support/Log.h"
#include "runtime/support/Stop.h"

#include <algorithm>

namespace cleave::rt {

Steps::Steps(const RunOptions &options, const Manifest &manifest, RankRun &run,
             TrainingData *data, Transport &transport)
    : options(options), run(run), data(data), transport(transport),
      settings(options.train, manifest, manifest.programOf(transport.rank()),
               run.state().addresses()),
      checkpoints(options, manifest, run, transport),
      reader(manifest, transport) {
  if (transport.rank() != 0)
    return;
  if (!options.log.empty())
    log = std::make_unique<StepLog>(options.log, options.resume);
  if (hasMutableState(manifest))
    display = std::make_unique<StepDisplay>(options.progress);
}

std::vector<double> Steps::execute() {
  start();
  std::vector<double> milliseconds;
  int64_t untimed = std::min<int64_t>(options.warmup, total - 1);
  while (done.step < total) {
    bool isTimed = done.step >= untimed;
    if (isTimed)
      startTrace();
    bool isShown = meet();
    int64_t samples = prepare();
    double time = runStep();
    if (isTimed)
      milliseconds.push_back(time);
    ++done.step;
    if (data)
      done.data = data->batches.position();
    tell(samples, isShown);
    checkpoints.afterStep(done);
  }
  checkpoints.finish(done);
  return milliseconds;
}

/// Finds the first step and the last.
void Steps::start() {
  done = checkpoints.start();
  phase(transport, "finding the steps to run", [&] {
    if (data && done.data)
      data->batches.goOn(*done.data, options.seed);
    total = options.epochs
                ? done.step + data->batches.countSteps(options.epochs)
                : int64_t{options.warmup} + options.repeat;
    checkpoints.verifyLeft(total);
  });
  int64_t dropped = data ? data->batches.countDropped() : 0;
  if (dropped && transport.rank() == 0)
    logf(LogLevel::Warn,
         "--data: the last {} of {} samples of each epoch are left out: they "
         "fill no batch, and the loss is the model's own",
         dropped, data->samples.samples());
  reader.start(done.step, total);
}

void Steps::stop() {
  std::string kept = checkpoints.finish(done);
  transport.finish();
  throw AgreedFailure(ExitStopped,
                      fmt::format("stopped on request after {} of {} steps; "
                                  "outputs are not written{}",
                                  done.step, total, kept));
}

/// Ends the run on all ranks when one of them was asked to stop. Returns
/// whether the step is to be shown.
bool Steps::meet() {
  int32_t wants[] = {isStopRequested(), display && display->isDue()};
  transport.world().allReduce(wants, wants, 2, CLEAVE_I32, CLEAVE_MAX,
                              "start of step");
  if (wants[0])
    stop();
  return wants[1] != 0;
}

void Steps::startTrace() {
  if (options.trace.empty() || run.context().trace)
    return;
  transport.world().barrier("start of trace");
  run.context().trace = std::make_unique<Trace>();
}

int64_t Steps::prepare() {
  int64_t samples = 0;
  if (data) {
    samples = data->batches.next();
    run.setBatch(data->samples, data->batches.ids());
    run.readAhead(data->samples, data->batches.peek());
  }
  settings.start({done.step + 1, total, samples});
  run.pushSettings();
  return samples;
}

/// Returns its time in milliseconds.
double Steps::runStep() {
  auto start = std::chrono::steady_clock::now();
  run.step();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

void Steps::tell(int64_t samples, bool isShown) {
  reader.endStep(samples);
  if (options.log.empty() && !isShown)
    return;
  StepFigures figures = reader.read(run, settings.rate());
  if (log)
    log->write(figures);
  if (display && isShown)
    display->show(figures);
}

} // namespace cleave::rt
