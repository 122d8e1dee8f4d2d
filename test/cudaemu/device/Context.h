//===- Context.h - a device with its work ---------------------------------===//
//
// A thread of the context runs the work: late, only when somebody waits or
// after a while, and in a random order among what dependencies allow. So what
// lacks an event or a wait soon gives other results, and Order.h finds it even
// when it does not.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "device/Memory.h"
#include "device/Order.h"
#include "exec/Warp.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <random>
#include <thread>

namespace cudaemu {

struct Work;
using WorkPtr = std::shared_ptr<Work>;
/// Runs the work. False: it waits for another device, ask again. Throws Fault.
using Action = std::function<bool(Work &)>;
using Instant = std::chrono::steady_clock::time_point;

struct Work {
  uint32_t item = 0; ///< Its number in the order of the context.
  Action action;
  std::shared_ptr<void>
      state;                 ///< What an action keeps until it is asked again.
  unsigned waits = 0;        ///< For so many others.
  std::vector<WorkPtr> next; ///< Those that wait for this.
  bool isDone = false;
  Instant added, finished;
};

class Context {
public:
  explicit Context(int device);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const int device;
  Memory memory;
  Order order;
  std::mutex api;   ///< Held by calls that change streams, events and graphs.
  int captures = 0; ///< Streams being captured in global mode.

  /// Lets what runs end, and runs nothing more.
  void stop();
  /// A line of work of which each item comes after the one before.
  uint32_t makeLane() { return lanes++; }
  WorkPtr add(uint32_t lane, const std::vector<WorkPtr> &after,
              std::string name, Action action);
  /// Until the work is done, or the context is poisoned: returns error().
  int wait(const WorkPtr &work);
  bool isDone(const WorkPtr &work);
  /// The error that every call returns from then on, or 0.
  int error() const { return stickyError; }
  /// Prints the message, for the first one, and poisons the context.
  void fail(const Fault &fault);

  /// The bytes at a device address, which `work` reads or writes. Throws Fault
  /// for what a kernel would fault for, and for reading what is uninitialised.
  char *read(const Work &work, uint64_t address, uint64_t bytes);
  char *write(const Work &work, uint64_t address, uint64_t bytes);
  /// Copies what may be uninitialised, with the marks of Memory.h; returns
  /// whether there are marks.
  bool copyOut(const Work &work, uint64_t address, uint64_t bytes, char *to,
               char *marks);
  /// `marks` may be null: all is initialised.
  void copyIn(const Work &work, uint64_t address, uint64_t bytes,
              const char *from, const uint8_t *marks);

private:
  /// Finds and orders the memory; null marks where there are none.
  char *use(const Work &work, uint64_t address, uint64_t bytes, bool writes,
            uint8_t *&marks);
  void run();
  WorkPtr pick();
  void finish(const WorkPtr &work);

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<WorkPtr> ready;
  size_t refused = 0; ///< Ready work in a row that had to wait.
  int waiting = 0;    ///< Threads in wait().
  bool stops = false;
  std::atomic<int> stickyError = 0;
  std::atomic<uint32_t> lanes = 0;
  Clock hostClock; ///< What the host knows to be done.
  std::mt19937_64 random;
  std::thread thread;
};

} // namespace cudaemu
