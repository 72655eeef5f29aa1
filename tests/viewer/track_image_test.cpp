// The picture of a cache has as many lit pixels as the tape says there are rows.
#include "viewer/track_image.h"

#include <gtest/gtest.h>

#include "support/tape_on_show.h"

namespace kvtape {
namespace {

class TrackImages : public testing::Test {
  protected:
    void SetUp() override { put_on_show(tape_, show_); }

    TrackImage paint(std::size_t lane, std::int64_t step, double within = 1,
                     ColourBy by = ColourBy::phase) {
        TrackImage image;
        Playhead at;
        at.step = step;
        at.within = within;
        image.paint(*show_.lanes()[lane], at, 0, by, dark_palette, true);
        return image;
    }
    static Rgba pixel(const TrackImage& image, std::int64_t track, std::int64_t position) {
        return image.pixel(track, position);
    }

    SyntheticTape tape_;
    Show show_;
};

TEST_F(TrackImages, LightAsManyCellsAsThereAreRows) {
    for (std::size_t lane = 0; lane < 3; ++lane) {
        for (std::int64_t step = 0; step < tape_.steps(); ++step) {
            const TrackImage image = paint(lane, step);
            const std::int64_t rows = show_.lanes()[lane]->playback().rows_in_cache(step);
            EXPECT_EQ(image.lit_cells(), rows) << "lane " << lane << ", step " << step;
            EXPECT_EQ(rows, kv_rows_per_token(tape_.shape) * (tape_.prompt + step));
            std::int64_t lit = 0;
            for (std::int64_t track = 0; track < track_count(tape_.shape); ++track) {
                for (std::int64_t position = 0; position < image.width(); ++position) {
                    lit += pixel(image, track, position) != dark_palette.empty ? 1 : 0;
                }
            }
            EXPECT_EQ(image.lit_cells(), lit);
        }
    }
}

TEST_F(TrackImages, ColourThePhases) {
    const TrackImage image = paint(1, 2);  // contiguous: prompt, one decoded, one written now
    for (std::int64_t track = 0; track < track_count(tape_.shape); ++track) {
        EXPECT_EQ(pixel(image, track, 0), dark_palette.prefill);
        EXPECT_EQ(pixel(image, track, tape_.prompt - 1), dark_palette.prefill);
        EXPECT_EQ(pixel(image, track, tape_.prompt), dark_palette.decode);
        EXPECT_EQ(pixel(image, track, tape_.prompt + 1), dark_palette.written_now);
        EXPECT_EQ(pixel(image, track, tape_.prompt + 2), dark_palette.empty);
    }
    // Without a cache everything is written again.
    const TrackImage uncached = paint(0, 2);
    EXPECT_EQ(pixel(uncached, 0, 0), dark_palette.written_now);
}

// A step begins with what was there before, writes, and reads from position 0 on.
TEST_F(TrackImages, ShowAStepAsItHappens) {
    EXPECT_EQ(pixel(paint(1, 1, 0), 0, tape_.prompt), dark_palette.empty);
    EXPECT_EQ(paint(0, 1, 0).lit_cells(), 0);  // without a cache, there is nothing
    EXPECT_NE(pixel(paint(1, 1, 0.2), 0, tape_.prompt), dark_palette.empty);

    const double halfway = writing_part + (1 - writing_part) / 2;
    const TrackImage reading = paint(1, 1, halfway);
    EXPECT_NE(pixel(reading, 0, 0), dark_palette.prefill);
    EXPECT_EQ(pixel(reading, 0, 4), dark_palette.prefill);  // not yet read
}

// Rows are read in the step that wrote them, too: those of a prompt, and all without a cache.
TEST_F(TrackImages, ShowReadsOfRowsThatAreNew) {
    const double halfway = writing_part + (1 - writing_part) / 2;
    for (const std::size_t lane : {0u, 1u, 2u}) {
        const TrackImage reading = paint(lane, 0, halfway);
        const Rgba read = pixel(reading, 0, 0);
        EXPECT_NE(read, dark_palette.written_now);
        EXPECT_EQ(pixel(reading, 0, 2), read);
        EXPECT_EQ(pixel(reading, 0, 3), dark_palette.written_now);  // not yet
        EXPECT_EQ(pixel(paint(lane, 0), 0, 0), dark_palette.written_now);
    }
    EXPECT_NE(pixel(paint(0, 2, halfway), 0, 0), dark_palette.written_now);
}

// Where a pixel stands for several cells, the loudest of them is seen, and each is in one pixel.
TEST_F(TrackImages, AreCutToThePixelsThereAre) {
    const TrackImage image = paint(1, 2);  // prompt 0..4, decoded 5, written now 6, empty 7 and 8
    ASSERT_EQ(image.width(), 9);
    std::vector<Rgba> cut;
    image.cut({0, 9, 9}, image.lines(), cut);
    ASSERT_EQ(std::ssize(cut), 9 * image.lines());
    for (std::int64_t p = 0; p < 9; ++p) {
        EXPECT_EQ(cut[static_cast<std::size_t>(p)], pixel(image, 0, p));
    }
    image.cut({0, 9, 2}, 1, cut);  // 0..3 and 4..8
    EXPECT_EQ(cut, (std::vector<Rgba>{dark_palette.prefill, dark_palette.written_now}));
    image.cut({6, 3, 1}, 1, cut);
    EXPECT_EQ(cut, (std::vector<Rgba>{dark_palette.written_now}));
    image.cut({7, 2, 1}, 1, cut);
    EXPECT_EQ(cut, (std::vector<Rgba>{dark_palette.empty}));
    image.cut({5.5, 2, 1}, 1, cut);  // begins within 5, so with it, and ends before 7
    EXPECT_EQ(cut, (std::vector<Rgba>{dark_palette.written_now}));
}

// Tracks with equal histories share a picture; one that differs has its own.
TEST_F(TrackImages, DoNotCopyWhatDiffers) {
    SyntheticTape tape;
    Step odd = tape.step(1, 1);
    // In layer 1 only, the first head's V row is not written.
    std::erase_if(odd.writes, [](const WriteRun& run) {
        return run.layer == 1 && run.kv_head == 0 && run.kind == Kind::value;
    });
    Show show;
    LaneHistory& lane = show.add_lane(tape.header(), 1);
    lane.add(tape.step(1, 0));
    lane.add(odd);
    TrackImage image;
    Playhead at;
    at.step = 1;
    image.paint(lane, at, 0, ColourBy::phase, dark_palette, true);
    const std::int64_t track = track_number(tape.shape, {1, 0, Kind::value});
    for (std::int64_t t = 0; t < track_count(tape.shape); ++t) {
        EXPECT_EQ(pixel(image, t, tape.prompt),
                  t == track ? dark_palette.empty : dark_palette.written_now);
    }
}

TEST_F(TrackImages, ArePaintedOnlyWhenSomethingChanged) {
    TrackImage image;
    Playhead at;
    const LaneHistory& lane = *show_.lanes()[1];
    EXPECT_TRUE(image.paint(lane, at, 0, ColourBy::phase, dark_palette, true));
    EXPECT_FALSE(image.paint(lane, at, 0, ColourBy::phase, dark_palette, true));
    EXPECT_TRUE(image.paint(lane, at, 0, ColourBy::age, dark_palette, true));
    at.step = 1;
    EXPECT_TRUE(image.paint(lane, at, 0, ColourBy::age, dark_palette, true));
}

TEST_F(TrackImages, EveryWayToColourLightsTheSameCells) {
    for (const ColourBy by : all_colour_modes) {
        EXPECT_EQ(paint(2, 3, 1, by).lit_cells(), paint(2, 3).lit_cells()) << name(by);
    }
}

// PC-TV-14: an infinite error has a colour of its own and does not spoil the scale.
TEST_F(TrackImages, NonFiniteErrorsHaveTheirOwnColour) {
    SyntheticTape tape;
    Step step = tape.step(1, 0);
    step.losses.push_back({0, 0, 3, std::numeric_limits<float>::infinity()});
    step.losses.push_back({1, 0, 0, 0.001f});
    Show show;
    LaneHistory& lane = show.add_lane(tape.header(), 1);
    lane.add(step);
    lane.add(tape.step(1, 1));
    TrackImage image;
    Playhead at;
    at.step = 1;
    image.paint(lane, at, 0, ColourBy::dtype_error, dark_palette, true);
    EXPECT_EQ(pixel(image, 0, 0), dark_palette.not_finite);
    const Rgba scaled = pixel(image, track_number(tape.shape, {1, 0, Kind::key}), 0);
    EXPECT_NE(scaled, dark_palette.not_finite);
    EXPECT_NE(scaled, dark_palette.cold);
    EXPECT_NE(scaled, dark_palette.hot);
}

}  // namespace
}  // namespace kvtape
