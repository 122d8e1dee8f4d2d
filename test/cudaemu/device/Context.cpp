//===- Context.cpp - a device with its work -------------------------------===//

#include "device/Context.h"
#include "device/Environment.h"

using namespace cudaemu;
using std::chrono::steady_clock;

Context::Context(int device)
    : device(device), memory(environment().memory),
      random(environment().seed * 1000003 + device) {
  thread = std::thread([this] { run(); });
}

Context::~Context() { stop(); }

void Context::stop() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stops = true;
  }
  changed.notify_all();
  if (thread.joinable())
    thread.join();
}

WorkPtr Context::add(uint32_t lane, const std::vector<WorkPtr> &after,
                     std::string name, Action action) {
  std::unique_lock<std::mutex> lock(mutex);
  Clock clock = hostClock;
  auto made = std::make_shared<Work>();
  for (const WorkPtr &earlier : after) {
    if (!earlier)
      continue;
    join(clock, order.clockOf(earlier->item));
    if (!earlier->isDone) {
      ++made->waits;
      earlier->next.push_back(made);
    }
  }
  made->item = order.add(lane, clock, std::move(name));
  made->action = std::move(action);
  made->added = steady_clock::now();
  if (made->waits == 0) {
    ready.push_back(made);
    lock.unlock();
    changed.notify_all();
  }
  return made;
}

int Context::wait(const WorkPtr &work) {
  if (!work)
    return error();
  std::unique_lock<std::mutex> lock(mutex);
  ++waiting;
  changed.notify_all();
  changed.wait(lock, [&] { return work->isDone || stickyError; });
  --waiting;
  join(hostClock, order.clockOf(work->item));
  return stickyError;
}

bool Context::isDone(const WorkPtr &work) {
  std::lock_guard<std::mutex> lock(mutex);
  if (work && !work->isDone)
    return false;
  if (work)
    join(hostClock, order.clockOf(work->item));
  return true;
}

void Context::fail(const Fault &fault) {
  int none = 0;
  if (stickyError.compare_exchange_strong(none, fault.code))
    report(fault.message);
}

/// The work to run next, or null while nobody waits for the rest.
WorkPtr Context::pick() {
  if (ready.empty())
    return nullptr;
  Instant oldest = ready[0]->added;
  for (const WorkPtr &work : ready)
    oldest = std::min(oldest, work->added);
  std::chrono::duration<double> age = steady_clock::now() - oldest;
  if (!waiting && age.count() < environment().lateness)
    return nullptr;
  std::swap(ready[random() % ready.size()], ready.back());
  WorkPtr picked = ready.back();
  ready.pop_back();
  return picked;
}

void Context::finish(const WorkPtr &work) {
  work->isDone = true;
  work->finished = steady_clock::now();
  work->action = nullptr;
  work->state = nullptr;
  for (const WorkPtr &next : work->next)
    if (--next->waits == 0)
      ready.push_back(next);
  work->next.clear();
  changed.notify_all();
}

void Context::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!stops) {
    WorkPtr work = pick();
    if (!work) {
      refused = 0;
      if (ready.empty())
        changed.wait(lock);
      else
        changed.wait_for(lock, std::chrono::milliseconds(1));
      continue;
    }
    bool isDone = true;
    if (!stickyError) {
      lock.unlock();
      try {
        if (environment().trace && !work->state)
          report("device " + std::to_string(device) + " runs " +
                 order.name(work->item));
        isDone = work->action(*work);
      } catch (const Fault &fault) {
        fail(fault);
      }
      lock.lock();
    }
    if (isDone) {
      refused = 0;
      finish(work);
      continue;
    }
    ready.push_back(work);
    if (++refused >= ready.size()) {
      refused = 0;
      changed.wait_for(lock, std::chrono::microseconds(50));
    }
  }
}

char *Context::use(const Work &work, uint64_t address, uint64_t bytes,
                   bool writes, uint8_t *&marks) {
  const Allocation *found = memory.find(address);
  if (!found || !found->contains(address, bytes)) {
    char text[24];
    snprintf(text, sizeof text, "%#llx",
             static_cast<unsigned long long>(address));
    throw Fault{700, order.name(work.item) + ": " +
                         (writes ? "write" : "read") + " of " +
                         std::to_string(bytes) + " bytes at " + text + " is " +
                         memory.describe(address, bytes)};
  }
  const Checks &checks = environment().checks;
  bool isDevice = !found->isHost;
  if (checks.streams && isDevice) {
    OrderCheck check(order, work.item);
    Uses *uses = memory.uses(address);
    if (uint32_t other = writes ? check.write(uses, address, bytes)
                                : check.read(uses, address, bytes))
      throw Fault{719, check.message(other, writes ? "writes" : "reads")};
  }
  marks =
      checks.uninitialised && isDevice ? memory.initialised(address) : nullptr;
  return found->host(address);
}

char *Context::read(const Work &work, uint64_t address, uint64_t bytes) {
  uint8_t *marks;
  char *at = use(work, address, bytes, false, marks);
  const void *unknown = marks ? std::memchr(marks, 0, bytes) : nullptr;
  if (unknown)
    throw Fault{
        719, order.name(work.item) + ": read of " + std::to_string(bytes) +
                 " bytes is of uninitialised memory, from byte " +
                 std::to_string(static_cast<const uint8_t *>(unknown) - marks) +
                 " on (" + memory.find(address)->name + ")"};
  return at;
}

char *Context::write(const Work &work, uint64_t address, uint64_t bytes) {
  uint8_t *marks;
  char *at = use(work, address, bytes, true, marks);
  if (marks)
    std::memset(marks, 1, bytes);
  return at;
}

bool Context::copyOut(const Work &work, uint64_t address, uint64_t bytes,
                      char *to, char *marksTo) {
  if (bytes == 0)
    return false;
  uint8_t *marks;
  std::memcpy(to, use(work, address, bytes, false, marks), bytes);
  if (marks)
    std::memcpy(marksTo, marks, bytes);
  return marks;
}

void Context::copyIn(const Work &work, uint64_t address, uint64_t bytes,
                     const char *from, const uint8_t *marksFrom) {
  uint8_t *marks;
  std::memcpy(use(work, address, bytes, true, marks), from, bytes);
  if (marks && marksFrom)
    std::memcpy(marks, marksFrom, bytes);
  else if (marks)
    std::memset(marks, 1, bytes);
}
