// From the run to the screen: the lanes, and what the playhead does meanwhile. No panel is drawn.
#include "viewer/live_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "support/tiny_model_files.h"

namespace kvtape {
namespace {

using namespace std::chrono_literals;
using Speed = LiveModel::Speed;

class LiveModelTest : public testing::Test {
  protected:
    LiveModelTest() : viewer_(textures_) {
        write_model(folder_.path() / "model", with_text());
        live_.options.model = folder_ / "model";
        live_.options.prompt = "hello";  // and 40 new tokens: 40 steps
        live_.options.tape = folder_ / "live.tape";
        live_.options.threads = 1;
    }

    // Feeds the viewer, as before each frame, until `done`.
    void feed_until(const std::function<bool()>& done) {
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (!done()) {
            ASSERT_LT(std::chrono::steady_clock::now(), give_up);
            live_.feed(viewer_);
            std::this_thread::sleep_for(1ms);
        }
    }
    bool all_lanes_have(std::int64_t steps) {
        if (viewer_.show.lanes().empty()) return steps == 0;
        for (const auto& lane : viewer_.show.lanes()) {
            if (lane->steps() < steps) return false;
        }
        return true;
    }
    // Long enough for several steps, if any were computed.
    void feed_a_while() {
        for (int i = 0; i < 30; ++i) {
            live_.feed(viewer_);
            std::this_thread::sleep_for(2ms);
        }
    }

    TestFolder folder_;
    NoTextures textures_;
    Viewer viewer_;
    LiveModel live_;
};

TEST_F(LiveModelTest, NothingRunsBeforeItIsStarted) {
    feed_a_while();
    EXPECT_TRUE(viewer_.show.lanes().empty());
    EXPECT_FALSE(std::filesystem::exists(live_.options.tape));
}

TEST_F(LiveModelTest, ThePlayheadFollowsTheNewestStep) {
    live_.set_speed(Speed::run_on);
    live_.start();
    feed_until([&] { return all_lanes_have(40); });
    ASSERT_EQ(viewer_.show.lanes().size(), 3u);
    EXPECT_EQ(viewer_.steps(), 40);
    EXPECT_EQ(viewer_.playhead.step, 39);
    EXPECT_EQ(viewer_.playhead.within, 1);
    // A second run takes the place of the first.
    live_.options.caches = {"paged"};
    live_.start();
    feed_until([&] { return viewer_.show.lanes().size() == 1 && all_lanes_have(40); });
    EXPECT_EQ(viewer_.playhead.step, 39);
}

TEST_F(LiveModelTest, ThePlayheadStaysWhereTheUserHasMovedIt) {
    live_.set_speed(Speed::step);
    live_.start();
    for (std::int64_t steps = 1; steps <= 3; ++steps) {
        feed_until([&] { return all_lanes_have(steps); });
        EXPECT_EQ(viewer_.playhead.step, steps - 1);
        feed_a_while();
        EXPECT_EQ(viewer_.steps(), steps);  // it pauses
        live_.go_on();
    }
    jump(viewer_.playhead, 1, viewer_.steps());
    live_.set_speed(Speed::run_on);
    live_.go_on();
    feed_until([&] { return all_lanes_have(40); });
    EXPECT_EQ(viewer_.playhead.step, 1);
}

// The default: the run waits for the picture, and for a user who looks back.
TEST_F(LiveModelTest, TheRunWaitsUntilThePictureHasBeenPlayed) {
    live_.start();
    for (std::int64_t steps = 1; steps <= 3; ++steps) {
        feed_until([&] { return all_lanes_have(steps); });
        EXPECT_TRUE(viewer_.playhead.playing);
        EXPECT_LT(viewer_.playhead.within, 1);
        feed_a_while();
        EXPECT_EQ(viewer_.steps(), steps);
        advance(viewer_.playhead, 10, viewer_.steps());
    }
    feed_until([&] { return all_lanes_have(4); });
    live_.pause();
    advance(viewer_.playhead, 10, viewer_.steps());
    feed_a_while();
    EXPECT_EQ(viewer_.steps(), 4);
    live_.go_on();
    feed_until([&] { return all_lanes_have(5); });
}

// What the grid lights up while a pass is computed, lane after lane.
TEST_F(LiveModelTest, APassUnderWayIsShownLayerByLayer) {
    live_.set_speed(Speed::layer);
    live_.start();
    for (std::int64_t step = 0; step < 2; ++step) {
        for (std::size_t lane = 0; lane < 3; ++lane) {
            feed_until([&] { return viewer_.pass && viewer_.pass->layers_done == 1; });
            EXPECT_EQ(viewer_.pass->lane, lane);
            EXPECT_EQ(viewer_.pass->position_begin, lane == 0 || step == 0 ? 0 : 5);
            EXPECT_EQ(viewer_.pass->position_end, 5 + step);
            EXPECT_EQ(viewer_.show.lanes()[lane]->steps(), step);
            live_.go_on();
            feed_until([&] { return viewer_.show.lanes()[lane]->steps() > step; });
            feed_until([&] { return live_.paused(); });
            EXPECT_FALSE(viewer_.pass);
            live_.go_on();
        }
    }
    feed_until([&] { return viewer_.pass.has_value(); });
    viewer_.close_all();
    EXPECT_FALSE(viewer_.pass);
    live_.feed(viewer_);
    EXPECT_FALSE(viewer_.pass);
}

TEST_F(LiveModelTest, ATapeThatIsOpenedMeanwhileTakesThePlaceOfTheRun) {
    live_.set_speed(Speed::step);
    live_.start();
    feed_until([&] { return all_lanes_have(1) && viewer_.steps() > 0; });
    viewer_.close_all();
    live_.set_speed(Speed::with_picture);  // nothing to wait for
    feed_until([&] {
        std::error_code ignored;
        return std::filesystem::file_size(live_.options.tape, ignored) > 20'000;
    });
    feed_a_while();
    EXPECT_TRUE(viewer_.show.lanes().empty());
    ASSERT_TRUE(viewer_.open(live_.options.tape));
    EXPECT_GT(viewer_.steps(), 1);
}

TEST_F(LiveModelTest, ARunThatFailsLeavesOnShowWhatWasThere) {
    live_.set_speed(Speed::run_on);
    live_.start();
    feed_until([&] { return all_lanes_have(40); });
    live_.options.model = folder_ / "nowhere";
    live_.start();
    feed_a_while();
    EXPECT_TRUE(all_lanes_have(40));
}

}  // namespace
}  // namespace kvtape
