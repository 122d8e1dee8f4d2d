//===- Trace.h - slices of time of one rank -------------------------------===//
//
// Two tracks: `cleaveTrace` cuts the first into operations, one after another;
// waits and transfers of collectives go to the second, with an arrow for each
// message and a counter of bytes. Written by rank 0 as one file in the trace
// event format (microseconds), which Perfetto reads.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_TRACE_H
#define CLEAVE_RUNTIME_TRACE_H

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cleave::rt {

class Transport;

class Trace {
public:
  using Clock = std::chrono::steady_clock;

  /// Time 0 is now; ranks make their traces right after a barrier.
  Trace() : zero(Clock::now()) {}

  /// Ends the running operation and starts the next. Strings are constants of
  /// the program.
  void operation(const char *name, const char *category);
  /// Ends the running operation.
  void endStep();
  /// A communication that began at `start` and ends now, into which this rank
  /// put `bytes`.
  void communication(const char *kind, const char *op, Clock::time_point start,
                     int64_t bytes);
  /// A message that the last communication sent or received, whose other end is
  /// in the trace of another rank.
  enum class End { Sent, Received };
  void message(End end, int from, int to, int tag);

  /// Makes the folder that `write` needs. Throws Failure (ExitUsage).
  static void makeFolder(const std::filesystem::path &directory);
  /// Gathers the slices of all ranks on rank 0, which writes DIR/trace.json.
  void write(const std::filesystem::path &directory,
             Transport &transport) const;

private:
  struct Slice {
    const char *name;
    const char *category;
    int track;
    double begin, end; ///< microseconds
  };
  double since(Clock::time_point time) const {
    return std::chrono::duration<double, std::micro>(time - zero).count();
  }
  /// A message's end: both have the same number.
  struct Flow {
    End end;
    uint64_t number;
    double time;
  };
  /// Bytes put into communications so far.
  struct Count {
    double time;
    int64_t bytes;
  };
  std::string events(int rank) const;

  Clock::time_point zero;
  std::vector<Slice> slices;
  std::vector<Flow> flows;
  std::vector<Count> counts;
  /// Messages so far by sender, receiver and tag: they arrive in order.
  std::map<std::array<int, 3>, int> messages;
  bool running = false;
};

} // namespace cleave::rt

#endif
