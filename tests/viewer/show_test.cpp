// Tapes as the viewer sees them: whole, growing, cut, damaged and empty.
#include "viewer/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/tape_menu.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class ShowTest : public testing::Test {
  protected:
    std::string path(const std::string& name) { return folder_ / name; }

    TestFolder folder_;
    SyntheticTape tape_;
    Show show_;
};

TEST_F(ShowTest, HoldsTheLanesOfSeveralTapesOnOneAxis) {
    write_tape(tape_, path("a.tape"));
    SyntheticTape longer;
    longer.decode_steps = 9;
    longer.caches = {"paged"};
    write_tape(longer, path("b.jsonl"));
    show_.open(path("a.tape"));
    show_.open(path("b.jsonl"));
    ASSERT_EQ(show_.lanes().size(), 4u);
    EXPECT_EQ(show_.lanes()[3]->lane().cache, "paged");
    EXPECT_EQ(show_.steps(), 10);
    EXPECT_EQ(show_.tapes()[0].remark, "");
}

TEST_F(ShowTest, FollowsATapeThatIsBeingWritten) {
    TapeWriter writer(path("t.tape"), tape_.header(), Overwrite::yes);
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, 0));
    show_.open(path("t.tape"));
    EXPECT_EQ(show_.steps(), 1);
    EXPECT_NE(show_.tapes()[0].remark, "");
    EXPECT_FALSE(show_.poll());
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, 1));
    EXPECT_TRUE(show_.poll());
    EXPECT_EQ(show_.steps(), 2);
    writer.close();
    show_.poll();
    EXPECT_EQ(show_.tapes()[0].remark, "");
    EXPECT_FALSE(show_.poll());
}

// PC-TV-04: what precedes the cut is on show, and the byte of the cut is said.
TEST_F(ShowTest, ShowsACutTapeUpToTheCut) {
    write_tape(tape_, path("t.tape"));
    const std::string whole = read_file(path("t.tape"));
    write_file(path("cut.tape"), whole.substr(0, whole.size() * 2 / 3));
    show_.open(path("cut.tape"));
    EXPECT_GT(show_.steps(), 0);
    EXPECT_LT(show_.steps(), tape_.steps());
    EXPECT_THAT(show_.tapes()[0].remark, HasSubstr(std::to_string(whole.size() * 2 / 3)));
}

TEST_F(ShowTest, ShowsADamagedTapeUpToTheDamage) {
    write_tape(tape_, path("t.jsonl"));
    std::string text = read_file(path("t.jsonl"));
    text[text.size() * 2 / 3] = '}';
    write_file(path("t.jsonl"), text);
    show_.open(path("t.jsonl"));
    EXPECT_GT(show_.steps(), 0);
    EXPECT_LT(show_.steps(), tape_.steps());
    EXPECT_THAT(show_.tapes()[0].remark, HasSubstr("corrupt"));
    EXPECT_FALSE(show_.follows());
    EXPECT_THAT(show_.take_errors(), testing::ElementsAre(show_.tapes()[0].remark));
    EXPECT_THAT(show_.take_errors(), testing::IsEmpty());
}

// What goes wrong while a tape is followed ends the following, and nothing else.
TEST_F(ShowTest, ATapeThatIsWrittenAnewStaysAsItWas) {
    TapeWriter writer(path("t.tape"), tape_.header(), Overwrite::yes);
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, 0));
    show_.open(path("t.tape"));
    EXPECT_TRUE(show_.follows());
    write_file(path("t.tape"), "short");
    EXPECT_FALSE(show_.poll());
    EXPECT_EQ(show_.steps(), 1);
    EXPECT_FALSE(show_.follows());
    EXPECT_THAT(show_.tapes()[0].remark, HasSubstr("written anew"));
    EXPECT_THAT(show_.take_errors(), testing::ElementsAre(show_.tapes()[0].remark));
    EXPECT_FALSE(show_.poll());
}

TEST_F(ShowTest, ABeginningThatTurnsOutToBeNoTapeGetsARemark) {
    write_file(path("t.jsonl"), "{\"tape\":");
    show_.open(path("t.jsonl"));
    write_file(path("t.jsonl"), "{\"tape\":\"something else\"}\n");
    EXPECT_FALSE(show_.poll());
    EXPECT_THAT(show_.tapes()[0].remark, HasSubstr("is not a tape"));
    EXPECT_FALSE(show_.follows());
}

TEST_F(ShowTest, WhatIsNoLongerFollowedStandsStill) {
    TapeWriter writer(path("t.tape"), tape_.header(), Overwrite::yes);
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, 0));
    show_.open(path("t.tape"));
    show_.stop_following();
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape_.step(lane, 1));
    EXPECT_FALSE(show_.poll());
    EXPECT_EQ(show_.steps(), 1);
}

TEST_F(ShowTest, AnotherShowTakesItsPlace) {
    put_on_show(tape_, show_);
    const std::int64_t cleared = show_.times_cleared();
    Show other;
    SyntheticTape one_lane;
    one_lane.caches = {"paged"};
    put_on_show(one_lane, other);
    show_.replace(std::move(other));
    EXPECT_EQ(show_.lanes().size(), 1u);
    EXPECT_GT(show_.times_cleared(), cleared);
}

TEST_F(ShowTest, FindsTheTapesOfAFolder) {
    for (const char* name : {"b.tape", "a.jsonl", "notes.txt"}) write_file(path(name), "");
    EXPECT_THAT(tapes_in(folder_.path().string()), testing::ElementsAre("a.jsonl", "b.tape"));
    EXPECT_THAT(tapes_in(path("no such folder")), testing::IsEmpty());
}

TEST_F(ShowTest, RefusesWhatIsNotATape) {
    write_file(path("x.tape"), "hello");
    EXPECT_THROW(show_.open(path("x.tape")), Error);
    EXPECT_THROW(show_.open(path("nothing.tape")), Error);
    EXPECT_TRUE(show_.lanes().empty());
}

// PC-TV-13: a run that was refused before its first step.
TEST_F(ShowTest, ATapeWithoutStepsHasLanesAndAReason) {
    TapeWriter writer(path("t.tape"), tape_.header(), Overwrite::yes);
    writer.close("the prompt is too long");
    show_.open(path("t.tape"));
    EXPECT_EQ(show_.steps(), 0);
    EXPECT_EQ(show_.lanes().size(), 3u);
    EXPECT_THAT(show_.tapes()[0].remark, HasSubstr("t.tape' ends early: the prompt is too long"));
}

TEST(LaneHistoryTest, AddsUpTheCostsAndKnowsTheTokens) {
    SyntheticTape tape;
    Show show;
    put_on_show(tape, show);
    const LaneHistory& lane = *show.lanes()[1];
    Costs sum;
    for (std::int64_t step = 0; step < lane.steps(); ++step) {
        sum += lane.costs(step);
        EXPECT_EQ(lane.costs_so_far(step).flops, sum.flops);
        EXPECT_EQ(lane.costs(step).flops, lane.costs(step).closed_form);
        EXPECT_EQ(lane.costs_so_far(step).rows_fetched, sum.rows_fetched);
    }
    EXPECT_EQ(lane.longest(0), tape.prompt + tape.decode_steps);
    EXPECT_EQ(lane.text(0, 1), "b");
    EXPECT_EQ(lane.text(0, 1000), "");
    EXPECT_EQ(lane.text(7, 0), "");
}

// PC-TV-02: half of a character is drawn as a sign for it, not dropped.
// A tape of a few bytes may claim any position.
TEST(LaneHistoryTest, RefusesMorePositionsThanAPictureHas) {
    SyntheticTape tape;
    TapeHeader header = tape.header();
    header.max_model_len = std::int64_t{1} << 40;
    LaneHistory lane(header, 1);
    Step step;
    step.lane = 1;
    step.spans.push_back({});
    step.spans.front().first_position = LaneHistory::most_positions;
    step.spans.front().tokens.push_back({0, "x"});
    EXPECT_THROW(lane.add(step), Error);
}

TEST(LaneHistoryTest, DrawsTokensThatAreNoText) {
    SyntheticTape tape;
    Step step = tape.step(1, 0);
    step.spans[0].tokens[0].bytes = "\xe7\x99";
    step.spans[0].tokens[1].bytes = std::string("\0", 1);
    step.spans[0].tokens[2].bytes = "a\nb";
    step.spans[0].tokens[3].bytes = "";
    LaneHistory lane(tape.header(), 1);
    lane.add(step);
    EXPECT_EQ(lane.text(0, 0), "\xef\xbf\xbd");
    EXPECT_EQ(lane.text(0, 1), "\xef\xbf\xbd");
    EXPECT_EQ(lane.text(0, 2),
              "a\xe2\x86\xb5"
              "b");
    EXPECT_EQ(lane.text(0, 3), std::to_string(step.spans[0].tokens[3].id));
}

TEST(LaneHistoryTest, NumbersItsEvents) {
    SyntheticTape tape;
    Show show;
    put_on_show(tape, show);
    const LaneHistory& lane = *show.lanes()[2];
    std::int64_t number = 0;
    for (std::int64_t s = 0; s < lane.steps(); ++s) {
        const Step& step = lane.step(s);
        EXPECT_EQ(lane.first_event(s), number);
        for (std::int64_t i = 0; i < std::ssize(step.pool); ++i, ++number) {
            EXPECT_EQ(lane.event(number).kind, Event::Kind::pool);
            EXPECT_EQ(lane.event(number).index, i);
        }
        for (std::int64_t i = 0; i < std::ssize(step.writes); ++i, ++number) {
            EXPECT_EQ(lane.event(number).kind, Event::Kind::write);
            EXPECT_EQ(lane.event(number).index, i);
        }
        for (std::int64_t i = 0; i < std::ssize(step.reads); ++i, ++number) {
            EXPECT_EQ(lane.event(number).kind, Event::Kind::read);
            EXPECT_EQ(lane.event(number).step, s);
            EXPECT_EQ(lane.event(number).index, i);
        }
    }
    EXPECT_EQ(lane.events(), number);
}

}  // namespace
}  // namespace kvtape
