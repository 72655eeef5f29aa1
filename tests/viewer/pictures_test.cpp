// Pictures drawn without a window, checked by what they mean: the cells that are lit are counted in
// the pixels and compared with the rows on the tape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <map>

#include "core/check.h"
#include "support/numbered_tape.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/image_file.h"
#include "viewer/offscreen.h"
#include "viewer/pictures.h"
#include "viewer/row_values.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

// A machine without a driver cannot draw: then these tests say so.
std::unique_ptr<Offscreen> stage(int width = 1280, int height = 720, float scale = 1) {
    return std::make_unique<Offscreen>(width, height, scale);
}

class Pictures : public testing::Test {
  protected:
    void SetUp() override {
        try {
            stage_ = stage();
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }

    // The colour in the middle of a cell.
    Rgba colour(const Screenshot& picture, std::size_t lane, std::int64_t track,
                std::int64_t position) {
        const GridGeometry& geometry = stage_->viewer().grids.at(lane);
        const auto x = static_cast<int>(geometry.left(static_cast<double>(position) + 0.5));
        const auto y = static_cast<int>(geometry.top(static_cast<double>(track) + 0.5));
        return picture.pixels[static_cast<std::size_t>(y * picture.width + x)];
    }

    std::unique_ptr<Offscreen> stage_;
    SyntheticTape tape_;
};

TEST_F(Pictures, LightAsManyCellsAsThereAreRowsInEveryLane) {
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    put_on_show(tape_, viewer.show);
    const std::int64_t tracks = track_count(tape_.shape);
    for (std::int64_t step = 0; step < tape_.steps(); ++step) {
        jump(viewer.playhead, step, viewer.steps());
        const Screenshot& picture = stage_->draw();
        for (std::size_t lane = 0; lane < 3; ++lane) {
            std::int64_t lit = 0;
            for (std::int64_t track = 0; track < tracks; ++track) {
                for (std::int64_t p = 0; p < tape_.prompt + tape_.decode_steps; ++p) {
                    lit += colour(picture, lane, track, p) != viewer.palette().empty ? 1 : 0;
                }
            }
            EXPECT_EQ(lit, viewer.show.lanes()[lane]->playback().rows_in_cache(step))
                << "lane " << lane << ", step " << step;
        }
    }
}

TEST_F(Pictures, HaveTheColoursOfFirstMiddleAndLastCell) {
    Viewer& viewer = stage_->viewer();
    put_on_show(tape_, viewer.show);  // in the default layout
    jump(viewer.playhead, 2, viewer.steps());
    const Screenshot& picture = stage_->draw();
    const Palette& palette = viewer.palette();
    const std::int64_t last_track = track_count(tape_.shape) - 1;
    const std::int64_t last = tape_.prompt + tape_.decode_steps - 1;
    for (const std::size_t lane : {1u, 2u}) {
        EXPECT_EQ(colour(picture, lane, 0, 0), palette.prefill);
        EXPECT_EQ(colour(picture, lane, last_track / 2, tape_.prompt), palette.decode);
        EXPECT_EQ(colour(picture, lane, last_track, tape_.prompt + 1), palette.written_now);
        EXPECT_EQ(colour(picture, lane, last_track, last), palette.empty);
    }
    EXPECT_EQ(colour(picture, 0, 0, 0), palette.written_now);
}

// A pass that live mode computes: the layers done are lit, and what a lane without a cache held
// before is gone.
TEST_F(Pictures, LightUpTheLayersDoneOfAPass) {
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    put_on_show(tape_, viewer.show);
    jump(viewer.playhead, viewer.steps() - 1, viewer.steps());
    const Palette& palette = viewer.palette();
    const std::int64_t end = tape_.prompt + tape_.decode_steps;
    const std::int64_t per_layer = 2 * tape_.shape.kv_heads;
    const std::int64_t last_track = track_count(tape_.shape) - 1;
    for (const std::size_t lane : {0u, 1u, 2u}) {
        viewer.pass = PassUnderWay{lane, 0, lane == 0 ? 0 : end, end + 1, 1};
        const Screenshot& picture = stage_->draw();
        EXPECT_EQ(colour(picture, lane, 0, end), palette.written_now);
        EXPECT_EQ(colour(picture, lane, per_layer - 1, end), palette.written_now);
        EXPECT_EQ(colour(picture, lane, per_layer, end), palette.empty);
        EXPECT_EQ(colour(picture, lane, last_track, end), palette.empty);
        EXPECT_EQ(colour(picture, lane, last_track, 0),
                  lane == 0 ? palette.empty : palette.prefill);
        EXPECT_EQ(colour(picture, (lane + 1) % 3, 0, end), palette.panel);
    }
    // Whoever looks back sees what was.
    jump(viewer.playhead, viewer.steps() - 2, viewer.steps());
    EXPECT_EQ(colour(stage_->draw(), 2, 0, tape_.prompt), palette.decode);

    // The first pass of all: there is no step yet.
    viewer.close_all();
    viewer.show.add_lane(tape_.header(), 0);
    viewer.pass = PassUnderWay{0, 0, 0, 5, 1};
    const Screenshot& picture = stage_->draw();
    EXPECT_EQ(colour(picture, 0, 0, 0), palette.written_now);
    EXPECT_EQ(colour(picture, 0, per_layer, 4), palette.empty);
}

// A column narrower than a pixel is seen all the same: the row that is written now.
TEST_F(Pictures, ShowTheNewestColumnHoweverNarrow) {
    stage_.reset();  // there is one Dear ImGui
    stage_ = stage(400, 300);
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    tape_.prompt = 1000;
    tape_.decode_steps = 2000;
    tape_.caches = {"contiguous"};
    put_on_show(tape_, viewer.show);
    for (std::int64_t step = 1; step < tape_.steps(); step += 97) {
        jump(viewer.playhead, step, viewer.steps());
        const Screenshot& picture = stage_->draw();
        const GridGeometry& geometry = viewer.grids.at(0);
        const GridGeometry::View& view = geometry.view();
        ASSERT_LT(geometry.cell_width(), 0.2);
        const auto y = static_cast<int>(geometry.top(0.5));
        const auto right = static_cast<int>(view.x + view.width);
        int new_ones = 0;
        for (int x = static_cast<int>(view.x); x < right; ++x) {
            const Rgba pixel = picture.pixels[static_cast<std::size_t>(y * picture.width + x)];
            new_ones += pixel == viewer.palette().written_now ? 1 : 0;
        }
        EXPECT_EQ(new_ones, 1) << "step " << step;
    }
}

TEST_F(Pictures, OfASequenceThatIsNotTheFirst) {
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    Step step = tape_.step(1, 0);
    step.spans.front().sequence = 3;
    for (WriteRun& run : step.writes) run.sequence = 3;
    for (ReadRun& run : step.reads) run.sequence = 3;
    viewer.show.add_lane(tape_.header(), 1).add(step);
    EXPECT_EQ(colour(stage_->draw(), 0, 0, tape_.prompt - 1), viewer.palette().written_now);
    EXPECT_EQ(viewer.grid.sequence, 3);
}

TEST_F(Pictures, AreTheSamePixelsTwice) {
    Viewer& viewer = stage_->viewer();
    put_on_show(tape_, viewer.show);
    jump(viewer.playhead, 1, viewer.steps());
    viewer.playhead.within = 0.6;
    const std::vector<Rgba> first = stage_->draw().pixels;
    jump(viewer.playhead, 3, viewer.steps());
    EXPECT_NE(stage_->draw().pixels, first);
    jump(viewer.playhead, 1, viewer.steps());
    viewer.playhead.within = 0.6;
    EXPECT_EQ(stage_->draw().pixels, first);
    stage_.reset();

    const auto again = stage();
    put_on_show(tape_, again->viewer().show);
    jump(again->viewer().playhead, 1, again->viewer().steps());
    again->viewer().playhead.within = 0.6;
    EXPECT_EQ(again->draw().pixels, first);
}

// The grid zoomed to one cell shows the numbers of its row, each in the colour of its value.
TEST_F(Pictures, OfOneCellShowItsNumbers) {
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    tape_.shape.head_dim = 12;
    for (std::int32_t lane = 0; lane < 3; ++lane) {
        viewer.show.add_lane(tape_.header(), lane) = numbered_history(tape_, lane);
    }
    jump(viewer.playhead, 2, viewer.steps());
    const TrackId track{1, 1, Kind::value};
    const std::int64_t position = 4;
    viewer.grid.positions = viewer.grid.tracks = 1;
    viewer.grid.first_position = static_cast<double>(position);
    viewer.grid.first_track = static_cast<double>(track_number(tape_.shape, track));
    const Screenshot& picture = stage_->draw();

    const float largest = std::abs(numbered(track, position, tape_.shape.head_dim - 1));
    for (const std::size_t lane : {0u, 1u, 2u}) {
        // From left to right and from top to bottom, past the rim and the lines between: the
        // colours that change.
        const GridGeometry::View& view = viewer.grids.at(lane).view();
        std::vector<Rgba> seen;
        for (const double row : {0.2, 0.8}) {
            const auto y = static_cast<int>(view.y + row * view.height);
            for (double x = view.x + 8; x < view.x + view.width - 8; ++x) {
                const Rgba colour =
                    picture
                        .pixels[static_cast<std::size_t>(y * picture.width + static_cast<int>(x))];
                for (std::int64_t i = 0; i < tape_.shape.head_dim; ++i) {
                    const Rgba wanted =
                        value_colour(numbered(track, position, i), largest, viewer.palette());
                    if (colour == wanted && (seen.empty() || seen.back() != wanted)) {
                        seen.push_back(wanted);
                    }
                }
            }
            if (std::ssize(seen) == tape_.shape.head_dim) break;  // all stand in one line
        }
        ASSERT_EQ(std::ssize(seen), tape_.shape.head_dim) << "lane " << lane;
        for (std::int64_t i = 0; i < tape_.shape.head_dim; ++i) {
            EXPECT_EQ(seen[static_cast<std::size_t>(i)],
                      value_colour(numbered(track, position, i), largest, viewer.palette()))
                << "lane " << lane << ", number " << i;
        }
    }
}

// PC-TV-07: more cells than 16 bits can number, all in their place.
TEST_F(Pictures, OfAHundredThousandCells) {
    SyntheticTape large;
    large.shape.layers = 8;
    large.shape.kv_heads = 8;
    large.shape.heads = 8;
    large.caches = {"contiguous"};
    large.prompt = 1000;
    Viewer& viewer = stage_->viewer();
    viewer.only_panel = "grid";
    put_on_show(large, viewer.show);
    jump(viewer.playhead, 1, viewer.steps());
    const Screenshot& picture = stage_->draw();
    const std::int64_t last_track = track_count(large.shape) - 1;
    EXPECT_EQ(last_track, 127);
    EXPECT_EQ(colour(picture, 0, 0, 0), viewer.palette().prefill);
    EXPECT_EQ(colour(picture, 0, 64, 500), viewer.palette().prefill);
    EXPECT_EQ(colour(picture, 0, last_track, 1000), viewer.palette().written_now);
    EXPECT_EQ(colour(picture, 0, last_track, 1003), viewer.palette().empty);
}

class Command : public Pictures {
  protected:
    void SetUp() override {
        Pictures::SetUp();
        stage_.reset();
        write_tape(tape_, folder_ / "t.tape");
    }
    ProgramResult view(std::vector<std::string> arguments) {
        return run_program(KVTAPE_BINARY_DIR "/viewer/kvtape-view", arguments, folder_.path());
    }
    TestFolder folder_;
};

TEST_F(Command, TheSameCommandGivesTheSameFile) {
    for (const char* name : {"a.png", "b.png"}) {
        const auto result = view({"t.tape", "--screenshot", name, "--step", "2", "--size",
                                  "640x360", "--panel", "grid"});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.err, "");
    }
    const std::string png = read_file(folder_ / "a.png");
    EXPECT_EQ(png.substr(1, 3), "PNG");
    EXPECT_EQ(png, read_file(folder_ / "b.png"));
}

TEST_F(Command, NeedsNoDisplay) {
    const auto result = run_program("/usr/bin/env",
                                    {"-i", KVTAPE_BINARY_DIR "/viewer/kvtape-view",
                                     folder_ / "t.tape", "--screenshot", folder_ / "a.png"},
                                    folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(Command, FilmsIntoAFolder) {
    const auto result = view({"t.tape", "--record", "film/", "--from", "1", "--to", "2", "--fps",
                              "4", "--speed", "2", "--size", "320x200"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read_file(folder_ / "film/frame_000000.png").substr(1, 3), "PNG");
    EXPECT_EQ(read_file(folder_ / "film/frame_000004.png").substr(1, 3), "PNG");
    EXPECT_FALSE(std::filesystem::exists(folder_ / "film/frame_000005.png"));
    EXPECT_NE(read_file(folder_ / "film/frame_000000.png"),
              read_file(folder_ / "film/frame_000004.png"));
}

// PC-TV-10
TEST_F(Command, WithoutADisplayTheWindowSaysWhatToDo) {
    const auto result = run_program("/usr/bin/env",
                                    {"-u", "DISPLAY", "-u", "WAYLAND_DISPLAY",
                                     KVTAPE_BINARY_DIR "/viewer/kvtape-view", "t.tape"},
                                    folder_.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_THAT(result.err, HasSubstr("DISPLAY"));
    EXPECT_THAT(result.err, HasSubstr("--screenshot"));
}

TEST_F(Command, RefusesInOneLine) {
    const std::map<std::string, std::vector<std::string>> wrong = {
        {"'90' ", {"t.tape", "--screenshot", "a.png", "--size", "90"}},
        {"steps 0 to 4", {"t.tape", "--screenshot", "a.png", "--step", "5"}},
        {"use one of grid", {"t.tape", "--screenshot", "a.png", "--panel", "cache"}},
        {"no/such.tape", {"no/such.tape", "--screenshot", "a.png"}},
        {"no/such/folder/a.png", {"t.tape", "--screenshot", "no/such/folder/a.png"}},
        {".gif or .mp4", {"t.tape", "--record", "film.avi"}},
        {"before --from 3", {"t.tape", "--record", "film/", "--from", "3", "--to", "1"}},
        {"not both", {"t.tape", "--record", "film/", "--screenshot", "a.png"}},
        {"--within is 2", {"t.tape", "--screenshot", "a.png", "--within", "2"}},
        {"--cell is '1,k", {"t.tape", "--screenshot", "a.png", "--cell", "1,k,3"}},
        {"no such cell", {"t.tape", "--screenshot", "a.png", "--cell", "2,0,k,3"}},
        {"4294967296,0,k,3", {"t.tape", "--screenshot", "a.png", "--cell", "4294967296,0,k,3"}},
        {"add --cell", {"t.tape", "--screenshot", "a.png", "--zoom", "3"}},
        {"--zoom is 0", {"t.tape", "--screenshot", "a.png", "--cell", "1,0,k,3", "--zoom", "0"}},
        {"no tape", {"--screenshot", "a.png"}}};
    for (const auto& [part, arguments] : wrong) {
        const auto result = view(arguments);
        EXPECT_NE(result.exit_code, 0) << part;
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        EXPECT_THAT(result.err + " ", HasSubstr(part.substr(0, part.find("' "))));
        EXPECT_FALSE(std::filesystem::exists(folder_ / "a.png")) << part;
    }
}

}  // namespace
}  // namespace kvtape
