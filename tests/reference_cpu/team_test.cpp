// Threads that share stages: everything is covered once, nobody overtakes, failures come out.
#include "reference_cpu/team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "core/check.h"
#include "support/sanitized.h"

namespace kvtape {
namespace {

TEST(Team, NeedsAThread) {
    EXPECT_THROW(Team(0), Error);
    EXPECT_THROW(Team(-3), Error);
    EXPECT_EQ(Team(1).size(), 1);
    EXPECT_EQ(Team(5).size(), 5);
}

// Each thread needs address space for its stack. In a child process with little of it left, the
// threads that did start are joined, and one line says how many they were.
TEST(Team, SaysHowManyThreadsCouldBeStarted) {
    if (memory_is_sanitized) GTEST_SKIP() << "a sanitizer needs more address space than the limit";
    const auto start_too_many = [] {
        std::int64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t now = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE));
        rlimit limit{};
        if (getrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        limit.rlim_cur = std::min(now + (rlim_t{64} << 20), limit.rlim_max);
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        try {
            const Team team(1000);
        } catch (const Error& error) {
            std::fprintf(stderr, "%s\n", error.what());
            _exit(0);
        }
        _exit(1);
    };
    EXPECT_EXIT(start_too_many(), testing::ExitedWithCode(0),
                "^threads: only [0-9]+ of 1000 could be started \\(.+\\); use fewer\n$");
}

TEST(Team, SharesCoverEverythingOnceAndDifferByAtMostOne) {
    std::barrier<> barrier(1);
    for (const int count : {1, 2, 3, 8}) {
        for (const std::int64_t items : {0, 1, 2, 3, 7, 8, 9, 1000}) {
            std::int64_t next = 0, least = items, most = 0;
            for (int index = 0; index < count; ++index) {
                const Range share = Worker(index, count, barrier).share(items);
                EXPECT_EQ(share.begin, next);
                EXPECT_LE(share.begin, share.end);
                next = share.end;
                least = std::min(least, share.end - share.begin);
                most = std::max(most, share.end - share.begin);
            }
            EXPECT_EQ(next, items);
            EXPECT_LE(most - least, 1) << count << " workers, " << items << " items";
        }
    }
}

TEST(Team, RunsTheBodyOnceOnEveryWorker) {
    for (const int threads : {1, 2, 8}) {
        Team team(threads);
        for (int pass = 0; pass < 50; ++pass) {
            std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
            team.run([&](Worker& me) { ++calls[static_cast<std::size_t>(me.index())]; });
            for (const auto& count : calls) EXPECT_EQ(count, 1);
        }
    }
}

// After wait() everyone sees what everyone wrote before it.
TEST(Team, WaitsBetweenStages) {
    Team team(4);
    for (int pass = 0; pass < 20; ++pass) {
        std::vector<int> cells(4, 0);  // plain ints: the barrier is what orders the accesses
        std::atomic<int> wrong = 0;
        team.run([&](Worker& me) {
            const auto mine = static_cast<std::size_t>(me.index());
            for (int stage = 1; stage <= 10; ++stage) {
                cells[mine] = stage;
                me.wait();
                if (cells[(mine + 1) % 4] != stage) ++wrong;
                me.wait();
            }
        });
        EXPECT_EQ(wrong, 0);
    }
}

// One that fails is not waited for, its exception comes out, and the team can go on.
TEST(Team, RethrowsAFailureAndLivesOn) {
    Team team(4);
    for (int failing = 0; failing < 4; ++failing) {
        std::atomic<int> finished = 0;
        const auto body = [&](Worker& me) {
            me.wait();
            if (me.index() == failing)
                throw std::runtime_error("worker " + std::to_string(failing));
            me.wait();
            me.wait();
            ++finished;
        };
        try {
            team.run(body);
            FAIL() << "nothing was thrown";
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), "worker " + std::to_string(failing));
        }
        EXPECT_EQ(finished, 3);
        std::atomic<int> calls = 0;
        EXPECT_NO_THROW(team.run([&](Worker&) { ++calls; }));
        EXPECT_EQ(calls, 4);
    }
    EXPECT_THROW(team.run([](Worker&) { throw Error("all of them"); }), Error);
}

}  // namespace
}  // namespace kvtape
