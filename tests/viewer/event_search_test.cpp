// From cells to events and back, against every event of a tape.
#include "viewer/event_search.h"

#include <gtest/gtest.h>

#include "support/synthetic_engine.h"
#include "support/tape_on_show.h"
#include "viewer/selection.h"

namespace kvtape {
namespace {

LaneHistory history_of(const TapeHeader& header, const std::vector<Step>& steps) {
    LaneHistory lane(header, 0);
    for (const Step& step : steps) lane.add(step);
    return lane;
}

// A pretended engine shares, copies and swaps blocks, so that rows are seen by others than those
// who wrote them.
class EventSearch : public testing::TestWithParam<const char*> {};

TEST_P(EventSearch, FindsTheWriteOfEveryCell) {
    for (unsigned seed = 0; seed < 5; ++seed) {
        test::SyntheticEngine engine(GetParam(), seed);
        engine.run(40);
        const LaneHistory lane = history_of(engine.header, engine.steps);
        std::int64_t found = 0;
        for (const std::int64_t step : {3, 17, 39}) {
            for (const std::int32_t sequence : lane.playback().sequences(step)) {
                for (std::int64_t track = 0; track < track_count(lane.shape()); ++track) {
                    const TrackId id = track_id(lane.shape(), track);
                    for (std::int64_t position = 0; position < 40; ++position) {
                        const Cell cell = lane.playback().cell(step, sequence, id.layer, id.kv_head,
                                                               id.kind, position);
                        const auto number = write_event(lane, id, cell);
                        ASSERT_EQ(number.has_value(), cell.filled);
                        if (!number) continue;
                        ++found;
                        const Event event = lane.event(*number);
                        ASSERT_EQ(event.kind, Event::Kind::write);
                        ASSERT_EQ(event.step, cell.written_step);
                        const WriteRun& run =
                            lane.step(event.step).writes[static_cast<std::size_t>(event.index)];
                        ASSERT_EQ(run.sequence, cell.sequence);
                        ASSERT_EQ((TrackId{run.layer, run.kv_head, run.kind}), id);
                        ASSERT_GE(cell.position, run.position_begin);
                        ASSERT_LT(cell.position, run.position_end);
                    }
                }
            }
        }
        EXPECT_GT(found, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Caches, EventSearch, testing::Values("none", "contiguous", "paged"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Events, OfASmallTape) {
    SyntheticTape tape;  // 5 tokens of prompt, 4 decode steps, blocks of 4, 8 tracks
    tape.caches = {"paged"};
    const TapeHeader header = tape.header();
    LaneHistory lane(header, 0);
    for (std::int64_t step = 0; step < tape.steps(); ++step) lane.add(tape.step(0, step));

    // Prefill: two blocks are taken, then each track is written in two runs and read in one.
    ASSERT_EQ(lane.first_event(1), 2 + 16 + 8);
    const EventText pool = event_text(lane, lane.event(0));
    EXPECT_STREQ(pool.what, "pool");
    EXPECT_EQ(pool.more, "allocate block 0");
    EXPECT_FALSE(first_row(lane, lane.event(0)));

    const EventText write = event_text(lane, lane.event(2));
    EXPECT_STREQ(write.what, "write");
    EXPECT_EQ(write.track, "L0 h0 K");
    EXPECT_EQ(write.positions, "0 to 3");
    EXPECT_EQ(write.rows, "4");
    EXPECT_EQ(write.more, "slots 0 to 3");

    // Position 4 is the first of the pool's last block.
    EXPECT_EQ(event_text(lane, lane.event(3)).positions, "4");
    EXPECT_EQ(event_text(lane, lane.event(3)).more, "slot 16");
    const auto row = first_row(lane, lane.event(3));
    ASSERT_TRUE(row);
    EXPECT_EQ(row->position, 4);
    EXPECT_EQ(row->track, (TrackId{0, 0, Kind::key}));

    const EventText read = event_text(lane, lane.event(18));
    EXPECT_STREQ(read.what, "read");
    EXPECT_EQ(read.positions, "0 to 4");
    EXPECT_EQ(read.rows, "15");  // 1 + 2 + 3 + 4 + 5
    EXPECT_EQ(read.more, "queries 0 to 4, heads 0 to 1, causal");

    const TrackId last = {1, 1, Kind::value};
    EXPECT_EQ(read_event(lane, 0, 0, last, 4), lane.first_event(1) - 1);
    EXPECT_FALSE(read_event(lane, 0, 0, last, 5));
    EXPECT_FALSE(read_event(lane, 0, 1, last, 4));
    EXPECT_TRUE(touches(lane, lane.event(18), 0, {0, 0, Kind::key}, 4));
    EXPECT_FALSE(touches(lane, lane.event(18), 0, {0, 0, Kind::key}, 5));
    EXPECT_FALSE(touches(lane, lane.event(18), 0, {0, 0, Kind::value}, 4));
    EXPECT_FALSE(touches(lane, lane.event(0), 0, {0, 0, Kind::key}, 0));
}

TEST(Selection, MovesTheGridAsLittleAsShowsTheCell) {
    EXPECT_EQ(first_that_shows(7, 3.5, 0), 3.5);  // all are on show
    EXPECT_EQ(first_that_shows(7, 3.5, 10), 3.5);
    EXPECT_EQ(first_that_shows(3, 3.5, 10), 3);   // cut at the left
    EXPECT_EQ(first_that_shows(13, 3.5, 10), 4);  // cut at the right
    EXPECT_EQ(first_that_shows(100, 3.5, 10), 91);
}

TEST(Selection, KnowsWhichCellsThereAre) {
    NoTextures textures;
    Viewer viewer(textures);
    EXPECT_FALSE(exists(viewer, {}));
    put_on_show({}, viewer.show);
    EXPECT_TRUE(exists(viewer, {2, 0, {1, 1, Kind::value}, 8}));
    EXPECT_FALSE(exists(viewer, {3, 0, {}, 0}));
    EXPECT_FALSE(exists(viewer, {2, 1, {}, 0}));
    EXPECT_FALSE(exists(viewer, {2, 0, {2, 0, Kind::key}, 0}));
    EXPECT_FALSE(exists(viewer, {2, 0, {0, 2, Kind::key}, 0}));
    EXPECT_FALSE(exists(viewer, {2, 0, {}, 9}));
    EXPECT_FALSE(exists(viewer, {2, 0, {}, -1}));
}

}  // namespace
}  // namespace kvtape
