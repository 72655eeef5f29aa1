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

TEST(PlayheadTest, AtTheEndItFollowsATapeThatGrows) {
    Playhead at;
    jump(at, 4, 5);
    follow(at, 5, 8);  // the newest step, however many came
    EXPECT_EQ(at.step, 7);
    EXPECT_EQ(at.within, 0);
    EXPECT_TRUE(at.playing);
    advance(at, 0.1, 8);
    follow(at, 8, 9);  // not played to its end: it must not fall behind
    EXPECT_EQ(at.step, 8);
    EXPECT_EQ(at.within, 0);
    advance(at, 10, 9);
    EXPECT_EQ(at.step, 8);
    EXPECT_EQ(at.within, 1);
    EXPECT_FALSE(at.playing);
}

TEST(PlayheadTest, TheFirstStepsOfATapeAreFollowed) {
    for (const double within : {0.0, 1.0}) {
        Playhead at;
        at.within = within;
        follow(at, 0, 2);
        EXPECT_EQ(at.step, 1);
        EXPECT_TRUE(at.playing);
    }
}

TEST(PlayheadTest, WhoLooksBackOrPausesIsNotDisturbed) {
    Playhead back, paused, playing, same;
    jump(back, 3, 5);
    jump(paused, 4, 5);
    paused.within = 0.5;
    jump(playing, 1, 5);
    playing.playing = true;
    follow(back, 5, 8);
    follow(paused, 5, 8);
    follow(playing, 5, 8);
    EXPECT_EQ(back.step, 3);
    EXPECT_EQ(paused.step, 4);
    EXPECT_EQ(paused.within, 0.5);
    EXPECT_EQ(playing.step, 1);
    jump(same, 4, 5);
    follow(same, 5, 5);
    EXPECT_FALSE(same.playing);
}

}  // namespace
}  // namespace kvtape
