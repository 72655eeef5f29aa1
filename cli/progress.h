// One line on standard error that says what the program is busy with, erased at the end. It appears
// only on a terminal, and only when the work has taken two seconds. A thread of its own draws it,
// because the work may be one long forward pass.
#pragma once

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kvtape {

class Progress {
  public:
    explicit Progress(std::string what, int file = STDERR_FILENO,
                      std::chrono::milliseconds delay = std::chrono::seconds(2));
    ~Progress() { stop(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void update(std::string what);
    void update(const std::string& what, std::int64_t done, std::int64_t all);

    // Erases the line. Call before something else is written to the terminal.
    void stop();

  private:
    void draw_until_stopped();

    const int file_;
    const std::chrono::milliseconds delay_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::string what_;
    bool stopping_ = false;
    std::thread thread_;  // none unless on a terminal
};

}  // namespace kvtape
