// The lessons, told on tapes that have all they need, on some that do not, and on none.
#include "viewer/guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "support/synthetic_engine.h"
#include "support/tape_files.h"
#include "support/tape_on_show.h"
#include "viewer/glossary.h"
#include "viewer/panel.h"
#include "viewer/rich_text.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class GuideTest : public testing::Test {
  protected:
    // Everything that must hold whatever is on show.
    void check_page(const Guide& guide) {
        const GuidePage& page = guide.page();
        EXPECT_FALSE(page.title.empty());
        EXPECT_FALSE(page.text.empty());
        EXPECT_GE(viewer_.playhead.step, 0);
        EXPECT_LT(viewer_.playhead.step, std::max<std::int64_t>(viewer_.steps(), 1));
        EXPECT_GE(viewer_.playhead.within, 0);
        EXPECT_LE(viewer_.playhead.within, 1);
        for (const Word& word : split_words(page.text)) {
            if (word.term.empty()) continue;
            EXPECT_NE(explanation(word.term), nullptr) << word.term << " is not in the glossary";
        }
        if (!page.panel.empty()) {
            const auto panels = all_panels();
            EXPECT_TRUE(std::any_of(panels.begin(), panels.end(), [&](const Panel& panel) {
                return page.panel == panel.name;
            })) << page.panel;
        }
        for (const GuideCells& cells : page.cells) {
            ASSERT_LT(cells.lane, viewer_.show.lanes().size());
            const LaneHistory& lane = *viewer_.show.lanes()[cells.lane];
            EXPECT_GE(cells.first_track, 0);
            EXPECT_LE(cells.first_track + cells.tracks, track_count(lane.shape()));
            EXPECT_GE(cells.first_position, 0);
            EXPECT_LE(cells.first_position + cells.positions, lane.longest(page.grid.sequence));
        }
    }

    // Turns to every page of every lesson and plays it to its end. Returns how many pages said that
    // the tape lacks something.
    int tell_all() {
        int lacking = 0;
        for (const LessonScript* lesson : all_lessons()) {
            Guide guide(lesson->number);
            EXPECT_GE(guide.pages(), 4);
            EXPECT_LE(guide.pages(), 7);
            for (int page = 1; page <= guide.pages(); ++page) {
                SCOPED_TRACE(say("lesson ", lesson->number, ", page ", page));
                guide.turn_to(viewer_, page);
                EXPECT_EQ(guide.page_number(), page);
                check_page(guide);
                lacking += guide.page().lacks_something;
                if (guide.page().lacks_something) {
                    EXPECT_THAT(guide.page().text, HasSubstr("has none"));
                }
                for (int i = 0; i < 400 && viewer_.playhead.playing; ++i) {
                    guide.advance(viewer_, 0.1);
                    advance(viewer_.playhead, 0.1, viewer_.steps());
                    check_page(guide);
                }
                EXPECT_FALSE(viewer_.playhead.playing) << "a move has an end";
                if (guide.page().move) {
                    EXPECT_EQ(viewer_.playhead.step, guide.page().move->to);
                    EXPECT_EQ(viewer_.playhead.within, 1);
                }
            }
            EXPECT_EQ(viewer_.playhead.steps_per_second, 2) << "the reader's speed comes back";
        }
        return lacking;
    }

    NoTextures textures_;
    Viewer viewer_{textures_};
};

TEST_F(GuideTest, TellsAllOfATapeWithThreeLanes) {
    put_on_show({}, viewer_.show);
    EXPECT_EQ(tell_all(), 0);
}

TEST_F(GuideTest, TellsATapeOfOneStepPerPhase) {
    SyntheticTape tape;
    tape.prompt = 1;
    tape.decode_steps = 1;
    put_on_show(tape, viewer_.show);
    EXPECT_EQ(tell_all(), 0);
}

TEST_F(GuideTest, SaysWhatAnEmptyShowLacks) {
    EXPECT_EQ(tell_all(), 33);  // every page
    EXPECT_EQ(viewer_.playhead.step, 0);
}

TEST_F(GuideTest, SaysWhatALaneAloneLacks) {
    for (const auto& [cache, missing] :
         {std::pair{"none", 16}, std::pair{"contiguous", 11}, std::pair{"paged", 10}}) {
        SCOPED_TRACE(cache);
        viewer_.show.clear();
        SyntheticTape tape;
        tape.caches = {cache};
        put_on_show(tape, viewer_.show);
        EXPECT_EQ(tell_all(), missing);
    }
}

TEST_F(GuideTest, TellsWhateverAnEngineRecords) {
    for (unsigned seed = 0; seed < 4; ++seed) {
        viewer_.show.clear();
        for (const char* cache : {"none", "contiguous", "paged"}) {
            test::SyntheticEngine engine(cache, seed);
            engine.run(25);
            LaneHistory& lane = viewer_.show.add_lane(engine.header, 0);
            for (const Step& step : engine.steps) lane.add(step);
        }
        tell_all();
    }
}

TEST_F(GuideTest, TellsATapeOfPrefillAlone) {
    SyntheticTape tape;
    tape.decode_steps = 0;
    put_on_show(tape, viewer_.show);
    EXPECT_GT(tell_all(), 0);
}

TEST_F(GuideTest, RefusesPagesAndLessonsThatAreNotThere) {
    put_on_show({}, viewer_.show);
    Guide guide(3);
    guide.turn_to(viewer_, 2);
    const std::int64_t step = viewer_.playhead.step;
    for (const int page : {0, -1, 7, 1000}) {
        EXPECT_THROW(guide.turn_to(viewer_, page), Error);
        EXPECT_THROW(start_lesson(viewer_, 3, page), Error);
    }
    EXPECT_EQ(guide.page_number(), 2);
    EXPECT_EQ(viewer_.playhead.step, step);
    EXPECT_FALSE(viewer_.guide);
    for (const int number : {0, -1, 7}) EXPECT_THROW(Guide{number}, Error);
    try {
        guide.turn_to(viewer_, 9);
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the guide of lesson 3 has no page 9; it has 1 to 6");
    }
}

// 5 tokens of prompt and 4 steps: the last step of the lane without a cache computes 9 tokens. A
// token has 8 rows: 2 layers, 2 KV heads, K and V.
TEST_F(GuideTest, SaysTheNumbersOfTheTape) {
    put_on_show({}, viewer_.show);
    Guide third(3);
    third.turn_to(viewer_, 2);
    EXPECT_THAT(third.page().text, HasSubstr("computed 9 tokens to gain one, and wrote 72 rows"));
    EXPECT_THAT(third.page().text, HasSubstr("The other 64 had been"));
    third.turn_to(viewer_, 5);
    EXPECT_THAT(third.page().text, HasSubstr("Both picked 5 tokens, and all are the same"));

    Guide first(1);
    first.turn_to(viewer_, 2);
    EXPECT_THAT(first.page().text, HasSubstr("x 2 layers x 2 KV heads = 8 rows"));
    // 4 numbers of d = 8, 2 x 4 x 4 for the query heads, 2 x 2 x 4 kept, 2 x 16 in the MLP
    first.turn_to(viewer_, 4);
    EXPECT_THAT(first.page().text, HasSubstr("computes 112 numbers. It keeps 16 of them"));
    // Position 5 is the second row of the block at the other end of a pool of 5 blocks.
    first.turn_to(viewer_, 6);
    EXPECT_THAT(first.page().text, HasSubstr("Position 5 is row 1 of block 4"));
    EXPECT_THAT(first.page().text, HasSubstr("slot 4 x 4 + 1 = 17"));

    Guide second(2);
    second.turn_to(viewer_, 3);
    EXPECT_THAT(second.page().text, HasSubstr("it fetches 15 rows"));
    EXPECT_THAT(second.page().text, HasSubstr("5 x 5 = 25"));

    Guide sixth(6);
    sixth.turn_to(viewer_, 3);  // 6 keys, K and V, 2 layers: by 4 query heads, from 2 KV heads
    EXPECT_THAT(sixth.page().text, HasSubstr("96 [rows read]"));
    EXPECT_THAT(sixth.page().text, HasSubstr("48 [rows fetched]"));
}

TEST_F(GuideTest, LanesThatPickOtherTokensAreToldSo) {
    SyntheticTape tape;
    const TapeHeader header = tape.header();
    for (const std::int32_t lane : {0, 1}) {
        LaneHistory& history = viewer_.show.add_lane(header, lane);
        for (std::int64_t i = 0; i < tape.steps(); ++i) {
            Step step = tape.step(lane, i);
            if (lane == 1 && i == 2) step.spans[0].sampled[0].logit += 1;
            if (lane == 1 && i == 4) step.spans[0].sampled[0].token.id += 1;
            history.add(step);
        }
    }
    const EqualPicks picks = equal_picks(*viewer_.show.lanes()[0], *viewer_.show.lanes()[1]);
    EXPECT_EQ(picks.picked, 5);
    EXPECT_EQ(picks.equal, 3);
    Guide guide(3);
    guide.turn_to(viewer_, 5);
    EXPECT_THAT(guide.page().text, HasSubstr("picked 5 tokens; 3 are the same"));
}

TEST_F(GuideTest, AReaderWhoPausesHasThePlayhead) {
    put_on_show({}, viewer_.show);
    viewer_.playhead.steps_per_second = 8;
    Guide guide(4);
    guide.turn_to(viewer_, 3);
    ASSERT_TRUE(guide.page().move);
    ASSERT_GT(guide.page().move->to, guide.page().move->from);
    EXPECT_TRUE(viewer_.playhead.playing);
    EXPECT_EQ(viewer_.playhead.step, guide.page().move->from);
    EXPECT_EQ(viewer_.playhead.within, 0);
    jump(viewer_.playhead, 0, viewer_.steps());
    guide.advance(viewer_, 100);
    EXPECT_EQ(viewer_.playhead.step, 0);
    EXPECT_EQ(viewer_.playhead.steps_per_second, 8);
}

TEST_F(GuideTest, OpensThePanelsItPointsAt) {
    put_on_show({}, viewer_.show);
    viewer_.visible["costs"] = false;
    start_lesson(viewer_, 5);
    ASSERT_TRUE(viewer_.guide);
    EXPECT_TRUE(viewer_.visible["guide"]);
    EXPECT_TRUE(viewer_.guide->points_at("costs"));
    EXPECT_FALSE(viewer_.guide->points_at("grid"));
    EXPECT_FALSE(viewer_.guide->points_at(""));
    EXPECT_TRUE(viewer_.visible["costs"]);
}

// A tape that is still being written: what a page lacked may come.
TEST_F(GuideTest, TellsAPageAnewWhenTheTapeGrows) {
    Guide guide(3);
    guide.turn_to(viewer_, 2);
    EXPECT_TRUE(guide.page().lacks_something);
    put_on_show({}, viewer_.show);
    guide.advance(viewer_, 0);
    EXPECT_FALSE(guide.page().lacks_something);
    EXPECT_THAT(guide.page().text, HasSubstr("72 rows"));
    EXPECT_EQ(viewer_.playhead.step, 4);

    // Once told, the playhead is the reader's.
    jump(viewer_.playhead, 1, viewer_.steps());
    put_on_show({}, viewer_.show);
    guide.advance(viewer_, 0);
    EXPECT_EQ(viewer_.playhead.step, 1);
}

// As many lanes and steps, but other tokens: the text is of the tape on show.
TEST_F(GuideTest, TellsAPageAnewWhenAnotherTapeTakesThePlace) {
    put_on_show({}, viewer_.show);
    Guide guide(3);
    guide.turn_to(viewer_, 2);
    EXPECT_THAT(guide.page().text, HasSubstr("computed 9 tokens"));
    Show other;
    SyntheticTape longer;
    longer.prompt += 3;
    put_on_show(longer, other);
    ASSERT_EQ(other.steps(), viewer_.steps());
    viewer_.show.replace(std::move(other));
    guide.advance(viewer_, 0);
    EXPECT_THAT(guide.page().text, HasSubstr("computed 12 tokens"));
}

TEST_F(GuideTest, AnotherTapeMayEndAMoveThatIsUnderWay) {
    put_on_show({}, viewer_.show);
    viewer_.playhead.steps_per_second = 8;
    Guide guide(4);
    guide.turn_to(viewer_, 3);
    ASSERT_TRUE(viewer_.playhead.playing);
    Show other;
    SyntheticTape prefill_alone;
    prefill_alone.decode_steps = 0;
    put_on_show(prefill_alone, other);
    viewer_.show.replace(std::move(other));
    viewer_.begin();
    guide.advance(viewer_, 0);
    EXPECT_TRUE(guide.page().lacks_something);
    EXPECT_TRUE(viewer_.playhead.playing);
    EXPECT_EQ(viewer_.playhead.steps_per_second, 8);
}

TEST(RichText, SplitsWordsAndTerms) {
    const std::vector<Word> words = split_words("A [KV cache], kept.\nNext [slot]");
    ASSERT_EQ(words.size(), 7u);
    EXPECT_EQ(words[0].text, "A");
    EXPECT_EQ(words[1].text, "KV");
    EXPECT_EQ(words[1].term, "KV cache");
    EXPECT_EQ(words[2].text, "cache");
    EXPECT_EQ(words[2].term, "KV cache");
    EXPECT_FALSE(words[2].joined);
    EXPECT_EQ(words[3].text, ",");
    EXPECT_TRUE(words[3].joined);
    EXPECT_EQ(words[3].term, "");
    EXPECT_FALSE(words[4].begins_paragraph);
    EXPECT_EQ(words[5].text, "Next");
    EXPECT_TRUE(words[5].begins_paragraph);
    EXPECT_EQ(words[6].term, "slot");
    EXPECT_TRUE(split_words("").empty());
    EXPECT_TRUE(split_words("[]\n ").empty());
    EXPECT_EQ(split_words("open [bracket").back().term, "bracket");
}

}  // namespace
}  // namespace kvtape
