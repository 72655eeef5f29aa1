// What is set aside and what it holds, against a replay that keeps every row, and the picture of
// it.
#include "viewer/storage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/synthetic_engine.h"
#include "support/tape_on_show.h"
#include "viewer/pool_picture.h"

namespace kvtape {
namespace {

LaneHistory history_of(const test::SyntheticEngine& engine) {
    LaneHistory lane(engine.header, 0);
    for (const Step& step : engine.steps) lane.add(step);
    return lane;
}

TEST(Storage, EqualsAReplayOfEveryRow) {
    std::int64_t shared = 0;
    for (unsigned seed = 0; seed < 12; ++seed) {
        test::SyntheticEngine engine("paged", seed);
        engine.run(40);
        const LaneHistory lane = history_of(engine);
        for (std::int64_t step = 0; step < lane.steps(); ++step) {
            SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
            const auto& picture = engine.pictures[static_cast<std::size_t>(step)];
            const Storage storage = storage_at(lane, step, {});
            EXPECT_EQ(storage.rows_held, picture.rows);
            EXPECT_EQ(storage.held(), std::ssize(picture.holders));
            EXPECT_EQ(storage.free(), lane.lane().blocks - storage.held());
            EXPECT_EQ(storage.rows_set_aside(),
                      storage.held() * lane.lane().block_size * kv_rows_per_token(lane.shape()));
            for (const Unit& unit : storage.units) {
                const auto& holders = picture.holders.at(unit.number);
                EXPECT_EQ(unit.holders, std::ssize(holders));
                EXPECT_EQ(unit.sequence, holders.front());
                EXPECT_EQ(picture.tables.at(unit.sequence)[static_cast<std::size_t>(unit.index)],
                          unit.number);
                EXPECT_EQ(storage.unit(unit.number), &unit);
            }
            shared += storage.shared();
        }
    }
    EXPECT_GT(shared, 0);  // or the test says nothing about sharing
}

TEST(Storage, WithoutBlocksIsAPieceForEachSequence) {
    test::SyntheticEngine engine("contiguous", 2);
    engine.run(30);
    const LaneHistory lane = history_of(engine);
    std::int64_t most = 0;
    for (std::int64_t step = 0; step < lane.steps(); ++step) {
        const Storage storage = storage_at(lane, step, {});
        const auto& picture = engine.pictures[static_cast<std::size_t>(step)];
        EXPECT_EQ(storage.rows_held, picture.rows);
        EXPECT_EQ(storage.rows_set_aside(), std::ssize(lane.playback().sequences(step)) *
                                                engine.header.max_model_len *
                                                kv_rows_per_token(lane.shape()));
        most = std::max(most, storage.held());
    }
    EXPECT_GT(most, 1);
}

TEST(Storage, IsNoneWithoutACache) {
    SyntheticTape tape;
    Show show;
    put_on_show(tape, show);
    const Storage storage = storage_at(*show.lanes()[0], 2, {});
    EXPECT_EQ(storage.held(), 0);
    EXPECT_EQ(storage.rows_held, 0);
}

// As recorded by the lane itself.
TEST(Storage, SetsAsideTheBytesThatTheTapeSays) {
    SyntheticTape tape;
    tape.decode_steps = 20;
    Show show;
    put_on_show(tape, show);
    for (const std::size_t lane : {std::size_t{1}, std::size_t{2}}) {
        for (const std::int64_t step : {0, 1, 4, 20}) {
            const Storage storage = storage_at(*show.lanes()[lane], step, {});
            EXPECT_EQ(storage.rows_set_aside() * tape.shape.head_dim * 4,
                      show.lanes()[lane]->step(step).kv_bytes_held);
        }
    }
}

// ---- pictures -----------------------------------------------------------------------------------

constexpr Playhead at_end_of(std::int64_t step) {
    return {step, 1, false, false, 2};
}

TEST(PoolPicture, HasALitTexelForEachRowOfTheTrack) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        test::SyntheticEngine engine("paged", seed);
        engine.run(25);
        const LaneHistory lane = history_of(engine);
        const TrackId track{1, 1, Kind::value};
        const PoolMap map = map_of_blocks(lane.lane().blocks, lane.lane().block_size, 600, 400, 1);
        ASSERT_TRUE(map.boxes);
        PoolPicture picture;
        std::vector<Rgba> pixels;
        for (std::int64_t step = 0; step < lane.steps(); ++step) {
            picture.update(lane, at_end_of(step), track, ColourBy::phase, dark_palette, true);
            picture.paint(map, 0, map.lines, dark_palette, pixels);
            // Without any blocks held, the replay has no slots.
            std::vector<Cell> slots(static_cast<std::size_t>(map.units * map.slots));
            const auto& replayed = engine.pictures[static_cast<std::size_t>(step)].slots;
            const auto found = replayed.find({track.layer, track.kv_head, track.kind});
            if (found != replayed.end()) slots = found->second;
            const std::int64_t stride = map.across * map.unit_texels_x();
            for (std::int64_t slot = 0; slot < std::ssize(slots); ++slot) {
                const std::int64_t block = slot / map.slots, in_block = slot % map.slots;
                const std::int64_t x =
                    block % map.across * map.unit_texels_x() + in_block % map.slots_across;
                const std::int64_t y =
                    block / map.across * map.unit_texels_y() + in_block / map.slots_across;
                const Cell& cell = slots[static_cast<std::size_t>(slot)];
                const bool held = picture.storage().unit(block) != nullptr;
                const Rgba expected = !held              ? free_colour(dark_palette)
                                      : !cell.filled     ? wasted_colour(dark_palette)
                                      : cell.written_now ? dark_palette.written_now
                                      : cell.written_phase == Phase::prefill ? dark_palette.prefill
                                                                             : dark_palette.decode;
                ASSERT_EQ(pixels[static_cast<std::size_t>(y * stride + x)], expected)
                    << "seed " << seed << " step " << step << " slot " << slot;
            }
        }
    }
}

TEST(PoolPicture, ACellOfABlockIsTheMeanOfItsSlots) {
    SyntheticTape tape;  // block 0 holds positions 0 to 3; the last block one row after prefill
    Show show;
    put_on_show(tape, show);
    PoolPicture picture;
    picture.update(*show.lanes()[2], at_end_of(0), {}, ColourBy::sequence, dark_palette, true);
    PoolMap cells = map_of_cells(tape.blocks(), 100, 10, 1);
    std::vector<Rgba> pixels;
    picture.paint(cells, 0, cells.lines, dark_palette, pixels);
    EXPECT_EQ(pixels[0], dark_palette.written_now);
    EXPECT_EQ(pixels[1], free_colour(dark_palette));
    const Rgba last = pixels[static_cast<std::size_t>(tape.block_of(1))];
    for (unsigned c = 0; c < 24; c += 8) {
        const double row = (dark_palette.written_now >> c) & 0xff;
        const double empty = (wasted_colour(dark_palette) >> c) & 0xff;
        EXPECT_NEAR(static_cast<double>((last >> c) & 0xff), (row + 3 * empty) / 4, 0.51);
    }
}

TEST(PoolPicture, PaintsOnlyTheLinesAskedFor) {
    SyntheticTape tape;
    tape.decode_steps = 40;
    Show show;
    put_on_show(tape, show);
    PoolPicture picture;
    picture.update(*show.lanes()[2], at_end_of(30), {}, ColourBy::phase, dark_palette, true);
    const PoolMap map = map_of_blocks(tape.blocks(), tape.block_size, 40, 400, 1);
    ASSERT_GT(map.lines, 3);
    std::vector<Rgba> all, some;
    picture.paint(map, 0, map.lines, dark_palette, all);
    picture.paint(map, 1, 2, dark_palette, some);
    const auto line = map.across * map.unit_texels_x() * map.unit_texels_y();
    ASSERT_EQ(std::ssize(some), 2 * line);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + line));
}

TEST(PoolPicture, AContiguousLaneHasACellPerPosition) {
    SyntheticTape tape;
    Show show;
    put_on_show(tape, show);
    PoolPicture picture;
    EXPECT_TRUE(
        picture.update(*show.lanes()[1], at_end_of(2), {}, ColourBy::phase, dark_palette, true));
    EXPECT_FALSE(
        picture.update(*show.lanes()[1], at_end_of(2), {}, ColourBy::phase, dark_palette, true));
    const PoolMap map = map_of_cells(tape.header().max_model_len, 400, 100, 1);
    std::vector<Rgba> pixels;
    picture.paint(map, 0, map.lines, dark_palette, pixels);
    EXPECT_EQ(pixels[0], dark_palette.prefill);
    EXPECT_EQ(pixels[4], dark_palette.prefill);
    EXPECT_EQ(pixels[5], dark_palette.decode);
    EXPECT_EQ(pixels[6], dark_palette.written_now);
    EXPECT_EQ(pixels[7], wasted_colour(dark_palette));
    EXPECT_EQ(std::count(pixels.begin(), pixels.end(), wasted_colour(dark_palette)),
              tape.header().max_model_len - 7);
}

}  // namespace
}  // namespace kvtape
