// The numbers in a cell: which they are, and how they are coloured and laid out.
#include "viewer/row_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/numbered_tape.h"

namespace kvtape {
namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

class RowValues : public testing::Test {
  protected:
    LaneHistory history(std::int32_t lane, KvDtype dtype = KvDtype::f32, float scale = 1) {
        return numbered_history(tape_, lane, dtype, scale);
    }

    SyntheticTape tape_;
};

TEST_F(RowValues, AreThoseOfTheCell) {
    for (const std::int32_t lane : {0, 1, 2}) {  // none, contiguous, paged
        const LaneHistory history = this->history(lane);
        for (std::int64_t step = 0; step < history.steps(); ++step) {
            for (std::int64_t t = 0; t < track_count(tape_.shape); ++t) {
                const TrackId track = track_id(tape_.shape, t);
                for (std::int64_t p = 0; p < tape_.prompt + tape_.decode_steps; ++p) {
                    const Cell cell =
                        history.playback().cell(step, 0, track.layer, track.kv_head, track.kind, p);
                    const std::vector<float> values = row_values(history, track, cell);
                    if (p >= tape_.prompt + step) {
                        EXPECT_TRUE(values.empty()) << "position " << p << ", step " << step;
                        continue;
                    }
                    ASSERT_EQ(std::ssize(values), tape_.shape.head_dim) << lane << ", " << p;
                    for (std::int64_t i = 0; i < tape_.shape.head_dim; ++i) {
                        EXPECT_EQ(values[static_cast<std::size_t>(i)], numbered(track, p, i));
                    }
                }
            }
        }
    }
}

// The dtype rounds and the scale multiplies, as when attention reads the row.
TEST_F(RowValues, AreDecodedAsTheCacheWould) {
    const TrackId track{1, 0, Kind::key};
    for (const KvDtype dtype : all_kv_dtypes) {
        const float scale = bytes_per_element(dtype) == 1 ? 0.25f : 1;
        const LaneHistory history = this->history(1, dtype, scale);
        const Cell cell = history.playback().cell(2, 0, 1, 0, Kind::key, 3);
        const std::vector<float> values = row_values(history, track, cell);
        ASSERT_EQ(std::ssize(values), tape_.shape.head_dim);
        for (std::int64_t i = 0; i < tape_.shape.head_dim; ++i) {
            const float exact = numbered(track, 3, i);
            // Half a unit in the last of 2 bits (fp8_e5m2) at worst.
            EXPECT_NEAR(values[static_cast<std::size_t>(i)], exact, std::abs(exact) / 8)
                << name(dtype);
        }
    }
}

// A copied block holds the rows of the sequence that wrote them, until they are written anew.
TEST_F(RowValues, FollowTheirRowsThroughACopyOnWrite) {
    LaneHistory history(tape_.header(), 2);
    Step first = tape_.step(2, 0);  // positions 0..4 in two blocks of 4
    list_rows(first, tape_.shape, KvDtype::f32, 1, 0, tape_.prompt);
    history.add(first);

    Step second = tape_.step(2, 1);  // position 5, by another sequence, after a copy
    const std::int64_t free_block = tape_.block_of(2);
    second.pool = {{PoolEventKind::share, 1, tape_.block_of(0), -1},
                   {PoolEventKind::share, 1, tape_.block_of(1), -1},
                   {PoolEventKind::copy_on_write, 1, free_block, tape_.block_of(1)}};
    second.spans.front().sequence = 1;
    list_rows(second, tape_.shape, KvDtype::f32, 1, 5, 6);
    for (WriteRun& run : second.writes) {
        run.sequence = 1;
        run.slot_begin = free_block * tape_.block_size + 1;
    }
    for (ReadRun& run : second.reads) run.sequence = 1;
    for (StoredRows& rows : second.rows) {
        rows.sequence = 1;
        rows.codes = std::string(rows.codes.size(), '\0');
    }
    history.add(second);

    const TrackId track{1, 0, Kind::value};
    const auto values = [&](std::int32_t sequence, std::int64_t position) {
        const Cell cell = history.playback().cell(1, sequence, 1, 0, Kind::value, position);
        return row_values(history, track, cell);
    };
    for (const std::int64_t position : {0, 3, 4}) {
        for (const std::int32_t sequence : {0, 1}) {
            ASSERT_EQ(std::ssize(values(sequence, position)), tape_.shape.head_dim);
            EXPECT_EQ(values(sequence, position).front(), numbered(track, position, 0));
        }
    }
    ASSERT_EQ(std::ssize(values(1, 5)), tape_.shape.head_dim);
    EXPECT_EQ(values(1, 5).front(), 0);
    EXPECT_TRUE(values(0, 5).empty());
}

TEST_F(RowValues, AreNoneOnATapeWithoutThem) {
    LaneHistory history(tape_.header(), 1);
    for (std::int64_t i = 0; i < tape_.steps(); ++i) history.add(tape_.step(1, i));
    EXPECT_FALSE(history.has_row_values());
    const Cell cell = history.playback().cell(1, 0, 0, 0, Kind::key, 0);
    EXPECT_TRUE(row_values(history, {}, cell).empty());
}

// PC-TV-14
TEST(ValueRange, LeavesOutWhatIsNotFiniteAndCountsIt) {
    const float values[] = {1, 2, nan_value, infinity, -3, 0.5f};
    EXPECT_EQ(value_range(values), (ValueRange{-3, 2, 4, 1, 1}));
    EXPECT_EQ(value_range(values).largest(), 3);
    const float nothing[] = {nan_value, nan_value};
    EXPECT_EQ(value_range(nothing), (ValueRange{0, 0, 0, 2, 0}));
    const float above[] = {5, 4};
    EXPECT_EQ(value_range(above), (ValueRange{4, 5, 2, 0, 0}));
}

TEST(ValueColours, TellTheSignTheSizeAndWhatIsNotFinite) {
    for (const Palette& palette : {dark_palette, light_palette}) {
        EXPECT_EQ(value_colour(-3, 3, palette), palette.negative);
        EXPECT_EQ(value_colour(3, 3, palette), palette.positive);
        EXPECT_EQ(value_colour(0, 3, palette), palette.empty);
        EXPECT_EQ(value_colour(0, 0, palette), palette.empty);
        EXPECT_NE(value_colour(1, 3, palette), value_colour(2, 3, palette));
        for (const float value : {nan_value, infinity, -infinity}) {
            EXPECT_EQ(value_colour(value, 3, palette), palette.not_finite);
        }
        for (const Rgba finite : {palette.negative, palette.positive, palette.empty}) {
            EXPECT_NE(finite, palette.not_finite);
        }
    }
}

TEST(ValueGrids, HaveAPlaceForEveryNumber) {
    for (const std::int64_t count : {1, 2, 7, 64, 80, 128}) {
        for (const double width : {1.0, 20.0, 300.0, 1200.0}) {
            for (const double height : {1.0, 20.0, 300.0}) {
                const ValueGrid grid = value_grid(count, width, height, 50, 13);
                EXPECT_GE(grid.columns * grid.rows, count);
                EXPECT_LT(grid.columns * (grid.rows - 1), count);
                if (!grid.texts) continue;
                EXPECT_GE(width / static_cast<double>(grid.columns), 50);
                EXPECT_GE(height / static_cast<double>(grid.rows), 13);
            }
        }
    }
    const ValueGrid wide = value_grid(64, 900, 120, 50, 13);
    EXPECT_TRUE(wide.texts);
    EXPECT_EQ(wide.columns, 16);
    EXPECT_EQ(wide.rows, 4);
}

}  // namespace
}  // namespace kvtape
