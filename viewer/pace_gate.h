// Where a run waits for the person who watches it. The threads that compute come here at every row
// of the cache and after every pass; the window's thread says how far they may go. It knows neither
// models nor windows.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

namespace kvtape {

// When a run pauses of itself. A step is one pass of every lane; it picks a token unless it was a
// chunk of the prompt with more to come.
enum class Pace : std::uint8_t { run_on, step, token, layer };

// Thrown out of a run that was told to stop.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped by the user"; }
};

class PaceGate {
  public:
    // --- The watcher's side. Nothing here waits.

    void set_pace(Pace pace);
    void pause();  // before the next layer, or after the pass
    void go_on();
    // Every wait, and every later call from the other side, throws Stopped.
    void stop();

    bool paused() const;

    struct Progress {
        std::int32_t lane = 0;
        std::int32_t layers_done = 0;  // of the pass, if it is not over
        bool in_pass = false;
        std::int64_t position_begin = 0, position_end = 0;  // of the rows that the pass stores
    };
    Progress progress() const;

    // --- The run's side.

    void throw_if_stopped() const;
    void begin_pass(std::int32_t lane);
    // What the pass stores: rows of positions [begin, end), in every layer.
    void pass_stores(std::int64_t begin, std::int64_t end);
    // A row of `layer` is about to be stored or fetched. May be called by all threads of a pass at
    // once; none of them is in another layer.
    void enter_layer(std::int32_t layer) {
        if (layer != open_layer_.load(std::memory_order_acquire)) ask_for(layer);
    }
    // The time that the pass spent waiting here: it is no part of what the pass cost.
    std::chrono::nanoseconds end_pass();
    void after_pass();
    void after_step(bool picked_token);

  private:
    void ask_for(std::int32_t layer);
    void wait(std::unique_lock<std::mutex>& lock, bool begins_pause);

    // The layer that may go on without asking. Rows come by the thousand, so this is looked at
    // without the mutex; none is open after a stop.
    static constexpr std::int32_t none = -1;
    std::atomic<std::int32_t> open_layer_ = none;

    mutable std::mutex mutex_;  // of all below
    std::condition_variable released_;
    Pace pace_ = Pace::run_on;
    bool pause_wanted_ = false;
    bool paused_ = false;
    bool stopped_ = false;
    Progress progress_;
    std::chrono::nanoseconds waited_{0};  // in this pass
};

}  // namespace kvtape
