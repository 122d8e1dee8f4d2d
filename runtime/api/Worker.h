//===- Worker.h - a thread that does one job after another ----------------===//
#ifndef CLEAVE_RUNTIME_API_WORKER_H
#define CLEAVE_RUNTIME_API_WORKER_H

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

namespace cleave::rt {

/// All that belongs to a rank is made, used and destroyed on one thread: its
/// thread team and, where there is MPI, its MPI calls are that thread's.
class Worker {
public:
  Worker() : thread([this] { work(); }) {}
  /// Ends when the jobs so far are done.
  ~Worker() {
    post([this] { isDone = true; });
    thread.join();
  }
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  template <typename Job> std::future<void> post(Job job) {
    std::packaged_task<void()> task(std::move(job));
    std::future<void> future = task.get_future();
    {
      std::lock_guard<std::mutex> lock(mutex);
      tasks.push_back(std::move(task));
    }
    changed.notify_one();
    return future;
  }

private:
  void work() {
    while (!isDone) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [this] { return !tasks.empty(); });
      std::packaged_task<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::packaged_task<void()>> tasks;
  bool isDone = false; ///< read and written by the thread alone
  std::thread thread;
};

} // namespace cleave::rt

#endif
