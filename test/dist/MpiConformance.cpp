//===- MpiConformance.cpp - the transports' suite on MPI ranks ------------===//
//
// usage: mpirun -n N transport-conformance [--messages] [--late] [--rounds R]
//   --messages   without shared memory, as between hosts
//   --late       the last rank stays away: the others must say so
//   --latency    times all-reduces of 197 x 384 floats instead
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Log.h"
#include "runtime/transport/LoadMpi.h"
#include "test/dist/Conformance.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using namespace cleave::rt;

/// Median time of an all-reduce, in microseconds.
static double allReduceMicroseconds(Transport &transport) {
  transport.connect(conformance::groupsFor(transport.size()));
  std::vector<float> in(197 * 384, 1.f), out(in.size());
  std::vector<double> times;
  for (int i = 0; i < 500; ++i) {
    auto start = std::chrono::steady_clock::now();
    transport.group(0).allReduce(in.data(), out.data(), in.size(), CLEAVE_F32,
                                 CLEAVE_SUM, "latency");
    times.push_back(std::chrono::duration<double, std::micro>(
                        std::chrono::steady_clock::now() - start)
                        .count());
  }
  std::nth_element(times.begin(), times.begin() + 250, times.end());
  return times[250];
}

static int runSuite(Transport &transport, int rounds) {
  std::vector<std::string> problems = conformance::check(transport, rounds);
  for (const std::string &problem : problems)
    logLine(LogLevel::Error, problem);
  transport.finish();
  if (transport.rank() == 0 && problems.empty())
    std::printf("%d ranks conform\n", transport.size());
  return problems.empty() ? 0 : 1;
}

int main(int argc, char **argv) {
  MpiOptions options;
  options.deadlines.operation = 60;
  bool late = false, latency = false;
  int rounds = 1000;
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (flag == "--messages")
      options.shareMemory = false;
    else if (flag == "--late")
      late = true;
    else if (flag == "--latency")
      latency = true;
    else if (flag == "--rounds" && i + 1 < argc)
      rounds = std::atoi(argv[++i]);
  }
  if (late)
    options.deadlines.operation = 2;
  std::unique_ptr<Transport> transport = loadMpiTransport(options);
  try {
    if (!late && !latency)
      return runSuite(*transport, rounds);
    if (late)
      conformance::missLastRank(*transport, std::chrono::seconds(60));
    if (latency && transport->rank() == 0)
      std::printf("all_reduce: %.1f us\n", allReduceMicroseconds(*transport));
    else if (latency)
      allReduceMicroseconds(*transport);
    transport->finish();
    return 0;
  } catch (const Failure &failure) {
    logLine(LogLevel::Error, failure.what());
    transport->abort(failure.code, failure.what());
    return failure.code;
  }
}
