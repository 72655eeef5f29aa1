#include "cli/progress.h"

#include <utility>

#include "cli/units.h"

namespace kvtape {
namespace {

constexpr auto time_between_redraws = std::chrono::milliseconds(200);

// A terminal that has gone is no reason to stop the work.
void write_to(int file, const std::string& text) {
    [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
}

}  // namespace

Progress::Progress(std::string what, int file, std::chrono::milliseconds delay)
    : file_(file), delay_(delay), what_(std::move(what)) {
    if (isatty(file_) == 1) thread_ = std::thread([this] { draw_until_stopped(); });
}

void Progress::update(std::string what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
}

void Progress::update(const std::string& what, std::int64_t done, std::int64_t all) {
    update(what + ": " + with_commas(done) + " of " + with_commas(all));
}

void Progress::stop() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Progress::draw_until_stopped() {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    std::unique_lock lock(mutex_);
    const auto stopping = [this] { return stopping_; };
    if (wake_.wait_for(lock, delay_, stopping)) return;
    do {
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        // \r goes to the start of the line, ESC[K erases what is left of an older, longer text.
        write_to(file_, "\r" + what_ + " (" + decimal(elapsed.count(), 0) + " s)\x1b[K");
    } while (!wake_.wait_for(lock, time_between_redraws, stopping));
    write_to(file_, "\r\x1b[K");
}

}  // namespace kvtape
