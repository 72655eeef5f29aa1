// Playback against a replay that keeps every row (support/synthetic_engine.h), at every step.
#include "tracer/playback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "support/error_text.h"
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

// A sequence of a paged lane whose blocks of 2 positions lie in descending order. Its first step
// computes 5 positions, each of the others one.
class PlaybackOfScatteredBlocks : public ::testing::Test {
  protected:
    PlaybackOfScatteredBlocks() {
        header_.max_model_len = 0;
        header_.lanes = {{"paged", "cpu", "paged", KvDtype::f32, 2, blocks}};
    }

    static constexpr std::int64_t blocks = 100, prompt = 5;

    static std::int64_t slot_of(std::int64_t position) {
        return (blocks - 1 - position / 2) * 2 + position % 2;
    }

    Step step(std::int64_t index) const {
        Step step = test::small_step(index);
        const std::int64_t begin = index == 0 ? 0 : prompt + index - 1, end = prompt + index;
        step.spans[0].first_position = begin;
        step.spans[0].tokens.assign(static_cast<std::size_t>(end - begin), {1, "x"});
        std::vector<WriteRun> writes;
        for (const WriteRun& of_track : step.writes) {
            for (std::int64_t position = begin; position < end; ++position) {
                WriteRun run = of_track;
                run.position_begin = position;
                run.position_end = position + 1;
                run.slot_begin = slot_of(position);
                writes.push_back(run);
            }
        }
        step.writes = canonical(writes);
        for (ReadRun& run : step.reads) {
            run.query_begin = begin;
            run.query_end = run.key_end = end;
        }
        return step;
    }

    TapeHeader header_ = test::small_header();
};

// 8 tracks with four stretches each, of writes and of reads, in prefill and in decode: 32. All runs
// of a step might begin new ones, which are 16 in decode and 32 in the first step.
TEST_F(PlaybackOfScatteredBlocks, RunsJoinAcrossBlocks) {
    Playback playback(header_, 0, 48);
    for (std::int64_t i = 0; i < 150; ++i) playback.add(step(i));
    for (const std::int64_t at : {0, 1, 2, 80, 149}) {
        EXPECT_EQ(playback.rows_in_cache(at), 8 * (prompt + at));
        for (const std::int64_t position : {0, 1, 4, 5, 6, 100, 153}) {
            const Cell cell = playback.cell(at, 0, 1, 1, Kind::key, position);
            EXPECT_EQ(cell.filled, position < prompt + at);
            if (!cell.filled) continue;
            EXPECT_EQ(cell.slot, slot_of(position));
            EXPECT_EQ(cell.written_step, std::max<std::int64_t>(position - prompt + 1, 0));
        }
    }
}

TEST_F(PlaybackOfScatteredBlocks, MoreStretchesThanItMayKeepAreRefused) {
    Playback playback(header_, 0, 40);
    playback.add(step(0));
    playback.add(step(1));
    EXPECT_THAT(
        error_text([&] { playback.add(step(2)); }),
        ::testing::AllOf(::testing::HasSubstr("lane 'paged', step 2: its 16 runs, beside 32"),
                         ::testing::HasSubstr("exceed the 40")));
    EXPECT_EQ(playback.steps(), 2);  // these can still be asked about
    EXPECT_EQ(playback.rows_in_cache(1), 8 * (prompt + 1));
}

// In one layer fewer rows than in the others: these are not counted alike.
TEST_F(PlaybackOfScatteredBlocks, RowsOfUnequalTracksAreCountedEachByItself) {
    Step first = step(0);
    std::erase_if(first.writes, [](const WriteRun& run) {
        return run.layer == 1 && run.kind == Kind::value && run.position_begin >= 2;
    });
    Playback playback(header_, 0);
    playback.add(first);
    EXPECT_EQ(playback.rows_in_cache(0), 6 * 5 + 2 * 2);
}

// Layer 1 claims other slots than layer 0, which nothing real does.
TEST_F(PlaybackOfScatteredBlocks, TheFirstTrackTellsTheBlocks) {
    Step first = step(0);
    for (WriteRun& run : first.writes) run.slot_begin -= run.layer * 100;
    Playback playback(header_, 0);
    playback.add(first);
    const std::map<std::int64_t, std::int64_t> table = {{0, 99}, {1, 98}, {2, 97}};
    EXPECT_EQ(playback.block_table(0, 0), table);
}

// Sequence 1 shares a block, is swapped out, and gets it back while sequence 0 still holds it.
TEST(Playback, RowsThatComeBackIntoASharedBlockDoNotGoInACircle) {
    TapeHeader header = test::small_header();
    header.lanes = {{"paged", "cpu", "paged", KvDtype::f32, 1, 8}};
    Step step = test::small_step(0);
    for (WriteRun& run : step.writes) run.slot_begin = 5;
    step.pool = {{PoolEventKind::allocate, 0, 5, -1},
                 {PoolEventKind::share, 1, 5, -1},
                 {PoolEventKind::swap_out, 1, 5, -1},
                 {PoolEventKind::allocate, 1, 5, -1},
                 {PoolEventKind::swap_in, 1, -1, -1}};
    Playback playback(header, 0);
    playback.add(step);
    EXPECT_EQ(playback.rows_in_cache(0), 8);
    EXPECT_TRUE(playback.cell(0, 1, 0, 0, Kind::key, 0).filled);
}

INSTANTIATE_TEST_SUITE_P(Caches, PlaybackOf, ::testing::Values("none", "contiguous", "paged"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace kvtape
