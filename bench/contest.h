// How kvtape measures: contestants run in turns, A B C A B C ..., so that whatever disturbs the
// machine disturbs all of them, and are compared round by round. Of many rounds the median counts.
//
// The clock is the CPU time of this thread: it stands still while another process has the core.
// What other processes do to the shared cache and to memory stays in the numbers, which is why only
// ratios within one contest mean something on a busy machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <sched.h>
#include <ctime>

namespace kvtape::bench {

inline double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Keeps the calling thread on the core it runs on now.
inline void stay_on_this_core() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

struct Contestant {
    std::string name;
    std::function<void()> run;
    std::vector<double> seconds = {};  // one per round

    double median_seconds() const { return median(seconds); }
    double best_seconds() const { return *std::min_element(seconds.begin(), seconds.end()); }
};

// How many times faster `a` was than `b`: the median over the rounds.
inline double times_faster(const Contestant& a, const Contestant& b) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.seconds.size(); ++i) {
        ratios.push_back(b.seconds[i] / a.seconds[i]);
    }
    return median(ratios);
}

// The first round only warms up. Each round starts with another contestant.
inline void hold_contest(std::vector<Contestant>& contestants, int rounds) {
    for (int round = -1; round < rounds; ++round) {
        for (std::size_t i = 0; i < contestants.size(); ++i) {
            Contestant& c =
                contestants[(i + static_cast<std::size_t>(round + 1)) % contestants.size()];
            const double start = thread_seconds();
            c.run();
            if (round >= 0) c.seconds.push_back(thread_seconds() - start);
        }
    }
}

}  // namespace kvtape::bench
