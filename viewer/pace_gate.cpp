#include "viewer/pace_gate.h"

namespace kvtape {

void PaceGate::set_pace(Pace pace) {
    const std::lock_guard lock(mutex_);
    pace_ = pace;
}

void PaceGate::pause() {
    const std::lock_guard lock(mutex_);
    pause_wanted_ = true;
}

void PaceGate::go_on() {
    const std::lock_guard lock(mutex_);
    pause_wanted_ = false;
    paused_ = false;
    released_.notify_all();
}

void PaceGate::stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    open_layer_.store(none, std::memory_order_release);
    released_.notify_all();
}

bool PaceGate::paused() const {
    const std::lock_guard lock(mutex_);
    return paused_ && !stopped_;
}

PaceGate::Progress PaceGate::progress() const {
    const std::lock_guard lock(mutex_);
    return progress_;
}

void PaceGate::throw_if_stopped() const {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw Stopped();
}

void PaceGate::begin_pass(std::int32_t lane) {
    const std::lock_guard lock(mutex_);
    if (stopped_) throw Stopped();
    progress_ = {lane, 0, true, 0, 0};
    waited_ = {};
    open_layer_.store(0, std::memory_order_release);
}

void PaceGate::pass_stores(std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    progress_.position_begin = begin;
    progress_.position_end = end;
}

// The first thread that comes to a layer decides whether all of them pause. One that comes late,
// when the watcher has let the others go on already, finds the layer entered and no pause.
void PaceGate::ask_for(std::int32_t layer) {
    std::unique_lock lock(mutex_);
    const bool first = layer != progress_.layers_done;
    progress_.layers_done = layer;
    wait(lock, first && (pace_ == Pace::layer || pause_wanted_));
    open_layer_.store(layer, std::memory_order_release);
}

std::chrono::nanoseconds PaceGate::end_pass() {
    const std::lock_guard lock(mutex_);
    progress_.in_pass = false;
    return waited_;
}

void PaceGate::after_pass() {
    std::unique_lock lock(mutex_);
    wait(lock, pace_ == Pace::layer || pause_wanted_);
}

void PaceGate::after_step(bool picked_token) {
    std::unique_lock lock(mutex_);
    wait(lock, pace_ == Pace::step || (pace_ == Pace::token && picked_token));
}

void PaceGate::wait(std::unique_lock<std::mutex>& lock, bool begins_pause) {
    const auto start = std::chrono::steady_clock::now();
    if (begins_pause) {
        paused_ = true;
        pause_wanted_ = false;
    }
    released_.wait(lock, [this] { return !paused_ || stopped_; });
    if (stopped_) throw Stopped();
    // Of the threads that waited, one counts the time for all.
    if (begins_pause) waited_ += std::chrono::steady_clock::now() - start;
}

}  // namespace kvtape
