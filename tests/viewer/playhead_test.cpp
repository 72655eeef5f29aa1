#include "viewer/playhead.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

TEST(Playhead, PlaysToTheEndAndStopsThere) {
    Playhead at{0, 0, true, false, 2};
    advance(at, 0.75, 3);
    EXPECT_EQ(at.step, 1);
    EXPECT_DOUBLE_EQ(at.within, 0.5);
    EXPECT_TRUE(at.playing);
    advance(at, 100, 3);
    EXPECT_EQ(at.step, 2);
    EXPECT_EQ(at.within, 1);
    EXPECT_FALSE(at.playing);
}

TEST(Playhead, StandsStillUnlessItPlays) {
    Playhead at{1, 0.25, false, false, 2};
    advance(at, 5, 3);
    EXPECT_EQ(at.step, 1);
    EXPECT_EQ(at.within, 0.25);
}

TEST(Playhead, OneStepIsPlayedToItsEnd) {
    Playhead at{1, 1, false, false, 2};
    play_one(at, 4);
    EXPECT_EQ(at.step, 2);
    EXPECT_EQ(at.within, 0);
    advance(at, 0.25, 4);
    EXPECT_EQ(at.step, 2);
    EXPECT_DOUBLE_EQ(at.within, 0.5);
    advance(at, 9, 4);
    EXPECT_EQ(at.step, 2);
    EXPECT_EQ(at.within, 1);
    EXPECT_FALSE(at.playing);

    Playhead last{3, 1, false, false, 2};
    play_one(last, 4);
    EXPECT_EQ(last.step, 3);
    EXPECT_FALSE(last.playing);
}

TEST(Playhead, JumpsStayOnTheTape) {
    Playhead at;
    jump(at, 7, 3);
    EXPECT_EQ(at.step, 2);
    jump(at, -7, 3);
    EXPECT_EQ(at.step, 0);
    EXPECT_EQ(at.within, 1);
}

TEST(Playhead, PlayingAfterTheEndBeginsAgain) {
    Playhead at{2, 1, false, false, 2};
    toggle(at, 3);
    EXPECT_EQ(at.step, 0);
    EXPECT_EQ(at.within, 0);
    EXPECT_TRUE(at.playing);
    toggle(at, 3);
    EXPECT_FALSE(at.playing);
}

// PC-TV-13
TEST(Playhead, NothingHappensOnATapeWithoutSteps) {
    Playhead at;
    toggle(at, 0);
    EXPECT_FALSE(at.playing);
    at.playing = true;
    advance(at, 1, 0);
    play_one(at, 0);
    jump(at, 5, 0);
    EXPECT_EQ(at.step, 0);
}

TEST(Playhead, OfOneStepHasABeginningAndAnEnd) {
    Playhead at{0, 0, true, false, 1};
    advance(at, 0.5, 1);
    EXPECT_EQ(at.step, 0);
    EXPECT_DOUBLE_EQ(at.within, 0.5);
    advance(at, 0.6, 1);
    EXPECT_EQ(at.within, 1);
    EXPECT_FALSE(at.playing);
}

TEST(Playhead, AStepWritesFirstAndThenReads) {
    EXPECT_EQ(share_written(0), 0);
    EXPECT_EQ(share_read(0), 0);
    EXPECT_EQ(share_written(writing_part), 1);
    EXPECT_EQ(share_read(writing_part), 0);
    EXPECT_EQ(share_written(1), 1);
    EXPECT_EQ(share_read(1), 1);
}

}  // namespace
}  // namespace kvtape
