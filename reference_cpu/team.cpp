#include "reference_cpu/team.h"

#include "core/check.h"

namespace kvtape {

Team::Team(int threads) {
    if (threads < 1) fail("threads: ", threads, " given; use 1 or more");
    threads_.reserve(static_cast<std::size_t>(threads) - 1);
    try {
        for (int index = 1; index < threads; ++index) {
            threads_.emplace_back([this, index] { thread_main(index); });
        }
    } catch (const std::exception& error) {
        // No destructor runs for an object that is not finished, and a std::thread that is dropped
        // without being joined ends the program.
        const int started = size();
        stop();
        fail("threads: only ", started, " of ", threads, " could be started (", error.what(),
             "); use fewer");
    }
}

Team::~Team() {
    stop();
}

void Team::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::run(const std::function<void(Worker&)>& body) {
    std::barrier<> barrier(size());
    {
        const std::lock_guard lock(mutex_);
        body_ = &body;
        barrier_ = &barrier;
        failure_ = nullptr;
        running_ = size() - 1;
        ++pass_;
    }
    start_.notify_all();
    work(0, barrier);

    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
}

void Team::work(int index, std::barrier<>& barrier) {
    Worker worker(index, size(), barrier);
    try {
        (*body_)(worker);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
    // A worker that has left, early or not, is no longer waited for.
    barrier.arrive_and_drop();
}

void Team::thread_main(int index) {
    std::int64_t seen = 0;
    for (;;) {
        std::unique_lock lock(mutex_);
        start_.wait(lock, [&] { return stopping_ || pass_ != seen; });
        if (stopping_) return;
        seen = pass_;
        std::barrier<>& barrier = *barrier_;
        lock.unlock();

        work(index, barrier);

        lock.lock();
        if (--running_ == 0) done_.notify_one();
    }
}

}  // namespace kvtape
