// Playback against a replay that keeps every row (support/synthetic_engine.h), at every step.
#include "tracer/playback.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "support/synthetic_engine.h"
#include "support/tape_files.h"

namespace kvtape {
namespace {

using test::SyntheticEngine;

std::string describe(const Cell& cell) {
    if (!cell.filled) return "empty";
    std::ostringstream text;
    text << "sequence " << cell.sequence << " position " << cell.position << " slot " << cell.slot
         << " written " << cell.written_step << (cell.written_phase == Phase::decode ? "d" : "p")
         << (cell.written_now ? " now" : "") << " read " << cell.times_read << " fetched "
         << cell.times_fetched << " now " << cell.read_now;
    return text.str();
}

void expect_same(const std::vector<Cell>& found, const std::vector<Cell>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_TRUE(found[i] == expected[i]) << "at " << i << ": found " << describe(found[i])
                                             << ", expected " << describe(expected[i]);
    }
}

void expect_equal_at(const Playback& playback, const SyntheticEngine& engine, std::int64_t step,
                     bool paged) {
    const auto& picture = engine.pictures[static_cast<std::size_t>(step)];
    EXPECT_EQ(playback.rows_in_cache(step), picture.rows);
    for (const auto& [id, tracks] : picture.sequences) {
        for (const auto& [where, expected] : tracks) {
            const auto [layer, head, kind] = where;
            std::vector<Cell> cells(expected.size() + 5);  // and some that are beyond
            playback.cells(step, id, layer, head, kind, 0, cells);
            for (std::size_t i = expected.size(); i < cells.size(); ++i) {
                ASSERT_FALSE(cells[i].filled);
            }
            cells.resize(expected.size());
            expect_same(cells, expected);
            if (::testing::Test::HasFatalFailure()) return;
        }
    }
    if (!paged) return;
    for (const auto& [id, table] : picture.tables) {
        std::vector<std::int64_t> blocks;
        for (const auto& [index, block] : playback.block_table(step, id)) {
            ASSERT_EQ(index, static_cast<std::int64_t>(blocks.size()));
            blocks.push_back(block);
        }
        ASSERT_EQ(blocks, table);
    }
    for (std::int64_t block = 0; block < engine.header.lanes[0].blocks; ++block) {
        const auto found = picture.holders.find(block);
        ASSERT_EQ(playback.holders(step, block),
                  found == picture.holders.end() ? std::vector<std::int32_t>{} : found->second);
    }
    for (const auto& [where, expected] : picture.slots) {
        const auto [layer, head, kind] = where;
        std::vector<Cell> cells(expected.size());
        playback.slots(step, layer, head, kind, 0, cells);
        expect_same(cells, expected);
        if (::testing::Test::HasFatalFailure()) return;
    }
}

class PlaybackOf : public ::testing::TestWithParam<const char*> {};

TEST_P(PlaybackOf, EqualsAReplayOfEveryRow) {
    const bool paged = std::string(GetParam()) == "paged";
    std::set<PoolEventKind> seen;
    for (unsigned seed = 0; seed < (paged ? 25u : 6u); ++seed) {
        SyntheticEngine engine(GetParam(), seed);
        engine.run(40);
        Playback playback(engine.header, 0);
        for (const Step& step : engine.steps) {
            playback.add(step);
            for (const PoolEvent& event : step.pool) seen.insert(event.kind);
        }
        ASSERT_EQ(playback.steps(), 40);
        for (std::int64_t step = 0; step < playback.steps(); ++step) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
            expect_equal_at(playback, engine, step, paged);
            if (HasFatalFailure()) return;
        }
    }
    EXPECT_EQ(seen.size() >= 7, paged);  // of the kinds that move blocks, none was left out
}

// A viewer that follows a growing tape asks while steps are still added.
TEST(Playback, AnswersDoNotChangeWhenStepsAreAdded) {
    SyntheticEngine engine("paged", 3);
    engine.run(20);
    Playback growing(engine.header, 0);
    for (const Step& step : engine.steps) {
        growing.add(step);
        expect_equal_at(growing, engine, step.index, true);
    }
    expect_equal_at(growing, engine, 5, true);
}

TEST(Playback, IgnoresOtherLanesAndRefusesSteps) {
    TapeHeader header = test::small_header();
    header.lanes.push_back(header.lanes[0]);
    header.lanes[1].name = "second";
    Playback playback(header, 1);
    playback.add(test::small_step(0));
    EXPECT_EQ(playback.steps(), 0);
    Step step = test::small_step(0);
    step.lane = 1;
    playback.add(step);
    EXPECT_EQ(playback.steps(), 1);
    EXPECT_TRUE(playback.cell(0, 0, 1, 1, Kind::key, 0).written_now);
    EXPECT_FALSE(playback.cell(0, 7, 1, 1, Kind::key, 0).filled);  // no such sequence
    step.index = 1;
    step.reads[0].key_begin = 5;
    EXPECT_THROW(playback.add(step), Error);
    EXPECT_EQ(playback.steps(), 1);
}

// Decoding joins into stretches: a sequence of any length costs a few.
TEST(Playback, CountsReadsOfALongDecode) {
    TapeHeader header = test::small_header();
    header.max_model_len = 0;
    Playback playback(header, 0);
    for (std::int64_t i = 0; i < 3000; ++i) playback.add(test::small_step(i));
    for (const std::int64_t step : {0, 1, 2, 1500, 2999}) {
        for (const std::int64_t position : {0, 1, 2, 1499, 1500, 2999}) {
            const Cell cell = playback.cell(step, 0, 0, 1, Kind::value, position);
            EXPECT_EQ(cell.filled, position <= step);
            if (!cell.filled) continue;
            EXPECT_EQ(cell.written_step, position);
            EXPECT_EQ(cell.times_fetched, step - position + 1);
            EXPECT_EQ(cell.times_read, 2 * (step - position + 1));
            EXPECT_EQ(cell.read_now, 2);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Caches, PlaybackOf, ::testing::Values("none", "contiguous", "paged"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace kvtape
