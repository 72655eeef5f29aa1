// Threads that walk through a forward pass together. One parallel region per pass: every worker
// runs the same function from top to bottom, takes its share of each stage, and waits for the
// others between stages. A stage is shared out by outputs (rows, panels, heads); no sum is ever
// split between workers, so the number of threads cannot change a bit.
#pragma once

#include <barrier>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kvtape {

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

// One worker's view of the team during a pass.
class Worker {
  public:
    Worker(int index, int count, std::barrier<>& barrier)
        : index_(index), count_(count), barrier_(barrier) {}

    int index() const { return index_; }

    // This worker's share of `items` things: shares differ by at most one and cover everything.
    Range share(std::int64_t items) const {
        return {items * index_ / count_, items * (index_ + 1) / count_};
    }

    // Waits until every worker is here, so that the next stage may read what this one wrote.
    void wait() { barrier_.arrive_and_wait(); }

  private:
    int index_;
    int count_;
    std::barrier<>& barrier_;
};

class Team {
  public:
    // `threads` workers in all; the calling thread is worker 0. Throws Error unless 1 <= threads,
    // and when the system does not start so many.
    explicit Team(int threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return static_cast<int>(threads_.size()) + 1; }

    // Runs `body` once on every worker and returns when all are done. If workers throw, the first
    // exception is rethrown here; the others go on without waiting for the one that failed.
    void run(const std::function<void(Worker&)>& body);

  private:
    void stop();
    void work(int index, std::barrier<>& barrier);
    void thread_main(int index);

    std::mutex mutex_;
    std::condition_variable start_;
    std::condition_variable done_;
    const std::function<void(Worker&)>* body_ = nullptr;  // of the pass in progress
    std::barrier<>* barrier_ = nullptr;                   // of the pass in progress
    std::int64_t pass_ = 0;                               // counts passes, wakes the threads
    int running_ = 0;                                     // threads still inside the pass
    bool stopping_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace kvtape
