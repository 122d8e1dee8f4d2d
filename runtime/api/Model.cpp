//===- Model.cpp - an open model: its ranks of this process ---------------===//
//
// A rank that fails alone leaves the others waiting. Threads of one process are
// told to stop; processes have their deadlines, and MPI is left as it is, since
// ending it would wait for them.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Model.h"

#include "runtime/main/Agree.h"
#include "runtime/main/Join.h"
#include "runtime/main/Outcome.h"
#include "runtime/main/Rank.h"
#include "runtime/program/Program.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"
#include "runtime/transport/Loopback.h"

using namespace cleave::rt;

static std::vector<CleaveTensor>
describe(const std::vector<TensorInfo> &tensors) {
  std::vector<CleaveTensor> list;
  for (const TensorInfo &tensor : tensors) {
    const DtypeInfo &dtype = dtypeInfo(tensor.dtype);
    size_t bytes = dtype.bytes;
    for (int64_t size : tensor.shape)
      bytes *= size;
    list.push_back({tensor.name.c_str(), dtype.name.data(),
                    static_cast<int32_t>(tensor.shape.size()),
                    tensor.shape.data(), bytes});
  }
  return list;
}

static void verifyOptions(const CleaveOptions &options) {
  if (options.threads < 0 || options.threads > 1024)
    fail(ExitUsage, "threads: expected 0 to 1024, found {}", options.threads);
  for (double seconds : {options.timeout, options.start_timeout})
    if (!(seconds >= 0 && seconds <= 1e6))
      fail(ExitUsage, "a timeout: expected 0 to 1e6 seconds, found {}",
           seconds);
}

static Deadlines getDeadlines(const CleaveOptions &options) {
  Deadlines deadlines;
  if (options.timeout > 0)
    deadlines.operation = options.timeout;
  if (options.start_timeout > 0)
    deadlines.start = options.start_timeout;
  return deadlines;
}

CleaveModel::CleaveModel(const char *out, const CleaveOptions &options) {
  verifyOptions(options);
  buckets = readManifest(out);
  for (const Manifest &bucket : buckets)
    signatures.push_back({describe(bucket.inputs), describe(bucket.outputs)});
  std::optional<Launched> launched = findLaunched();
  isHere =
      world() == 1 || options.in_process || !launched || launched->size == 1;
  if (!isHere && launched->size != world())
    fail(ExitMismatch,
         "plan needs {} but {} {} started: start {}, or have all ranks in each "
         "process (in_process)",
         counted(world(), "rank"), launched->size,
         launched->size == 1 ? "was" : "were", world());
  if (!isHere)
    ownRank = launched->rank;
  for (int i = 0; i < (isHere ? world() : 1); ++i)
    ranks.push_back(std::make_unique<Rank>());
  try {
    isHere ? openHere(options) : openLaunched(options);
  } catch (const Failure &) {
    close();
    throw;
  }
}

// Who closes a model has nobody to tell that a rank could not be ended.
CleaveModel::~CleaveModel() {
  (void)catchFailure([&] { close(); });
}

void CleaveModel::close() {
  onAll([](Rank &rank) {
    rank.runs.clear();
    rank.transport.reset();
  });
}

void CleaveModel::openHere(const CleaveOptions &options) {
  std::shared_ptr<LoopbackHub> hub = makeLoopbackHub(world());
  onAll([&](Rank &rank) {
    int index = static_cast<int>(
        std::find_if(ranks.begin(), ranks.end(),
                     [&](auto &other) { return other.get() == &rank; }) -
        ranks.begin());
    rank.transport = makeLoopbackTransport(hub, index, getDeadlines(options));
    start(rank, options.threads);
  });
}

void CleaveModel::openLaunched(const CleaveOptions &options) {
  MpiOptions mpi{getDeadlines(options)};
  mpi.isResident = true;
  onAll([&](Rank &rank) {
    rank.transport = joinRanks(*findLaunched(), mpi);
    start(rank, options.threads);
  });
}

void CleaveModel::start(Rank &rank, int threads) {
  Transport &transport = *rank.transport;
  verifySameBuild(buckets.front(), transport);
  phase(transport, "loading", [&] {
    for (const Manifest &bucket : buckets)
      rank.runs.push_back(std::make_unique<RankRun>(
          bucket, findProgram(bucket, transport.rank(), nullptr), transport,
          threadCount(threads, transport)));
  });
  transport.connect(buckets.front().groups);
  for (std::unique_ptr<RankRun> &run : rank.runs)
    run->connect();
}

void CleaveModel::leave(Rank &rank, const Failure &failure) {
  if (isHere && rank.transport && world() > 1)
    rank.transport->abort(failure.code, failure.what());
  if (!isHere)
    (void)rank.transport.release();
}

void CleaveModel::onAll(const std::function<void(Rank &)> &job) {
  Outcome outcome;
  auto doJob = [&](Rank &rank) {
    try {
      job(rank);
    } catch (const AgreedFailure &failure) {
      outcome.add(failure);
    } catch (const Failure &failure) {
      outcome.add(failure);
      leave(rank, failure);
    } catch (const std::exception &exception) {
      Failure failure(ExitDevice, exception.what());
      outcome.add(failure);
      leave(rank, failure);
    }
  };
  std::vector<std::future<void>> jobs;
  for (std::unique_ptr<Rank> &rank : ranks)
    jobs.push_back(rank->worker.post([&, &rank = *rank] { doJob(rank); }));
  for (std::future<void> &done : jobs)
    done.wait();
  if (outcome.failure())
    throw Failure(*outcome.failure());
}

static void verifyAddresses(const void *const *addresses,
                            const std::vector<CleaveTensor> &tensors,
                            const char *what) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!addresses || (!addresses[i] && tensors[i].bytes))
      fail(ExitUsage, "the address of {} '{}' is null", what, tensors[i].name);
}

void CleaveModel::run(int32_t bucket, const void *const *wholeInputs,
                      void *const *wholeOutputs) {
  std::lock_guard<std::mutex> lock(mutex);
  if (broken)
    throw Failure(*broken);
  if (bucket < 0 || static_cast<size_t>(bucket) >= buckets.size())
    fail(ExitUsage, "bucket {}: the model has {}, counted from 0", bucket,
         buckets.size());
  const auto &[inputs, outputs] = signatures[bucket];
  verifyAddresses(wholeInputs, inputs, "input");
  if (ownRank == 0)
    verifyAddresses(wholeOutputs, outputs, "output");
  auto step = [&, inputCount = inputs.size(),
               outputCount = outputs.size()](Rank &rank) {
    RankRun &run = *rank.runs[bucket];
    run.context().clearError();
    run.setInputs({wholeInputs, inputCount});
    run.step();
    bool isFirst = rank.transport->rank() == 0;
    run.gatherOutputs({wholeOutputs, isFirst ? outputCount : 0});
  };
  try {
    onAll(step);
  } catch (const Failure &failure) {
    if (world() > 1)
      broken = failure;
    throw;
  }
}
