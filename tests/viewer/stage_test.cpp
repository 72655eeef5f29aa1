// The options that say what is on show at first, in a window and in a picture.
#include "viewer/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>

#include "core/check.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/guide.h"
#include "viewer/viewer.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

std::string refusal(const StageOptions& options) {
    try {
        check(options);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(StageOptionsTest, AreCheckedBeforeAnythingIsOpened) {
    EXPECT_EQ(refusal({}), "");
    for (const double scale : {0.0, -1.0, 100.0, std::nan(""), 0.49, 8.01}) {
        StageOptions options;
        options.scale = scale;
        EXPECT_THAT(refusal(options), HasSubstr("use a number from 0.5 to 8")) << scale;
    }
    for (const double speed : {0.0, -1.0, std::nan(""), 121.0}) {
        StageOptions options;
        options.steps_per_second = speed;
        EXPECT_THAT(refusal(options), HasSubstr("--speed is")) << speed;
    }
    StageOptions options;
    options.page = 2;
    EXPECT_THAT(refusal(options), HasSubstr("add --lesson"));
    options = {};
    options.colour_by = "red";
    EXPECT_THAT(refusal(options), HasSubstr("--colour-by is 'red'; use phase"));
}

class StageTest : public testing::Test {
  protected:
    StageTest() { put_on_show(tape_, viewer_.show); }

    std::string error_of(const StageOptions& options) {
        try {
            set_stage(viewer_, options, Time::runs);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    SyntheticTape tape_;
    NoTextures textures_;
    Viewer viewer_{textures_};
};

TEST_F(StageTest, AWindowPlaysFromTheFirstStepAndAPictureShowsTheLast) {
    set_stage(viewer_, {}, Time::runs);
    EXPECT_TRUE(viewer_.playhead.playing);
    EXPECT_EQ(viewer_.playhead.step, 0);
    EXPECT_EQ(viewer_.playhead.within, 0);
    set_stage(viewer_, {}, Time::stands);
    EXPECT_FALSE(viewer_.playhead.playing);
    EXPECT_EQ(viewer_.playhead.step, tape_.steps() - 1);
    EXPECT_EQ(viewer_.playhead.within, 1);
}

// In both, options mean the same.
TEST_F(StageTest, IsSetAsTheOptionsSay) {
    StageOptions options;
    options.step = 2;
    options.within = 0.25;
    options.steps_per_second = 5;
    options.panel = "grid";
    options.colour_by = "age";
    options.cell = "1,1,v,3";
    options.zoom = 2;
    for (const Time time : {Time::stands, Time::runs}) {
        viewer_.grid = {};
        viewer_.selected.reset();
        set_stage(viewer_, options, time);
        EXPECT_FALSE(viewer_.playhead.playing);
        EXPECT_EQ(viewer_.playhead.step, 2);
        EXPECT_EQ(viewer_.playhead.within, 0.25);
        EXPECT_EQ(viewer_.playhead.steps_per_second, 5);
        EXPECT_EQ(viewer_.only_panel, "grid");
        EXPECT_EQ(viewer_.grid.by, ColourBy::age);
        EXPECT_EQ(viewer_.grid.positions, 2);
        ASSERT_TRUE(viewer_.selected);
        EXPECT_EQ(viewer_.selected->position, 3);
        EXPECT_EQ(viewer_.selected->lane, 1u);  // the first that keeps its rows
    }
}

TEST_F(StageTest, TheCellIsOfASequenceThatThereIs) {
    viewer_.close_all();
    Step step = tape_.step(1, 0);
    step.spans.front().sequence = 3;
    for (WriteRun& run : step.writes) run.sequence = 3;
    for (ReadRun& run : step.reads) run.sequence = 3;
    viewer_.show.add_lane(tape_.header(), 1).add(step);
    StageOptions options;
    options.cell = "0,0,k,1";
    EXPECT_EQ(error_of(options), "");
    ASSERT_TRUE(viewer_.selected);
    EXPECT_EQ(viewer_.selected->sequence, 3);
}

TEST_F(StageTest, WithinAloneIsOfTheLastStep) {
    StageOptions options;
    options.within = 0.5;
    set_stage(viewer_, options, Time::runs);
    EXPECT_EQ(viewer_.playhead.step, tape_.steps() - 1);
    EXPECT_EQ(viewer_.playhead.within, 0.5);
    EXPECT_FALSE(viewer_.playhead.playing);
}

TEST_F(StageTest, OptionsWinOverThePageOfALesson) {
    StageOptions options;
    options.lesson = 4;
    options.page = 3;
    set_stage(viewer_, options, Time::runs);
    EXPECT_TRUE(viewer_.playhead.playing);
    set_stage(viewer_, options, Time::stands);
    EXPECT_FALSE(viewer_.playhead.playing);
    EXPECT_EQ(viewer_.playhead.step, viewer_.guide->page().move->to);
    options.step = 1;
    options.colour_by = "reads";
    for (const Time time : {Time::stands, Time::runs}) {
        set_stage(viewer_, options, time);
        EXPECT_EQ(viewer_.guide->page_number(), 3);
        EXPECT_EQ(viewer_.playhead.step, 1);
        EXPECT_FALSE(viewer_.playhead.playing);
        EXPECT_EQ(viewer_.grid.by, ColourBy::reads);
    }
}

TEST_F(StageTest, StepsAndCellsThatAreNotThereAreRefused) {
    StageOptions options;
    options.step = 5;
    EXPECT_EQ(error_of(options), "--step is 5, but the tape has steps 0 to 4");
    options = {};
    options.cell = "0,0,k,9";
    EXPECT_THAT(error_of(options), HasSubstr("no such cell"));
}

// PC-TV-13
TEST_F(StageTest, ATapeWithoutStepsSaysSoAndWhy) {
    TestFolder folder;
    TapeWriter writer(folder / "t.tape", tape_.header(), Overwrite::yes);
    writer.close("the prompt is too long");
    viewer_.open_instead({folder / "t.tape"});
    StageOptions options;
    EXPECT_EQ(error_of(options), "");
    options.step = 0;
    EXPECT_THAT(error_of(options), HasSubstr("--step is 0, but the tape has no steps: tape '"));
    EXPECT_THAT(error_of(options), HasSubstr("ends early: the prompt is too long"));
    options = {};
    options.within = 0.5;
    EXPECT_THAT(error_of(options), HasSubstr("the tape has no steps"));
}

}  // namespace
}  // namespace kvtape
