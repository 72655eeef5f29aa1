// The event list in whole frames: mouse, keys, and its links to the grid and the playhead.
#include <gtest/gtest.h>

#include "support/null_imgui.h"
#include "support/tape_on_show.h"
#include "viewer/event_search.h"
#include "viewer/selection.h"
#include "viewer/viewer.h"

namespace kvtape {
namespace {

class EventList : public testing::Test {
  protected:
    EventList() {
        SyntheticTape tape;
        tape.decode_steps = 60;
        put_on_show(tape, viewer_.show);
        viewer_.only_panel = "events";
        viewer_.event_lane = 1;
        imgui_.set_mouse(-100, -100, false, 0);
        frame(3);
    }

    void frame(int count = 1) {
        for (int i = 0; i < count; ++i) {
            ImGui::NewFrame();
            viewer_.frame(0);
            ImGui::Render();
        }
    }
    void press(ImGuiKey key) {
        imgui_.set_key(key, true);
        frame();
        imgui_.set_key(key, false);
        frame();
    }
    const LaneHistory& lane() const { return *viewer_.show.lanes()[1]; }
    std::int64_t first() const { return viewer_.events.scroll.first(); }

    NullImGui imgui_;
    NoTextures textures_;
    Viewer viewer_{textures_};
};

TEST_F(EventList, FollowsThePlayheadUntilTheReaderScrolls) {
    for (const std::int64_t step : {7, 3, 20}) {
        jump(viewer_.playhead, step, viewer_.steps());
        frame();
        EXPECT_EQ(first(), lane().first_event(step));
    }
    imgui_.set_mouse(300, 400, false, 0);
    frame();
    imgui_.set_mouse(300, 400, false, -1);  // the wheel, towards the reader
    frame();
    imgui_.set_mouse(300, 400, false, 0);
    frame();
    EXPECT_EQ(first(), lane().first_event(20) + 3);
    EXPECT_FALSE(viewer_.events.follow);
    jump(viewer_.playhead, 5, viewer_.steps());
    frame();
    EXPECT_EQ(first(), lane().first_event(20) + 3);
}

TEST_F(EventList, KeysScrollItWhileTheMouseIsOverIt) {
    jump(viewer_.playhead, 5, viewer_.steps());
    imgui_.set_mouse(300, 400, false, 0);
    frame(2);
    press(ImGuiKey_End);
    EXPECT_EQ(viewer_.events.scroll.end(), lane().events());
    const std::int64_t last = first();
    press(ImGuiKey_UpArrow);
    EXPECT_EQ(first(), last - 1);
    press(ImGuiKey_Home);
    EXPECT_EQ(first(), 0);
    press(ImGuiKey_PageDown);
    EXPECT_EQ(first(), viewer_.events.scroll.end() - first() - 1);
    EXPECT_EQ(viewer_.playhead.step, 5) << "the keys were the list's";

    imgui_.set_mouse(-100, -100, false, 0);
    frame(2);
    press(ImGuiKey_End);
    EXPECT_EQ(viewer_.playhead.step, 60) << "and now they are the playhead's";
}

TEST_F(EventList, AClickGoesToTheStepAndTheCell) {
    jump(viewer_.playhead, 40, viewer_.steps());
    viewer_.grid.first_position = 2;
    viewer_.grid.positions = 4;
    frame();
    imgui_.set_mouse(300, 400, false, 0);
    frame(2);
    press(ImGuiKey_Home);
    press(ImGuiKey_PageDown);
    const std::int64_t before = first();
    imgui_.set_mouse(300, 400, true, 0);
    frame();
    imgui_.set_mouse(300, 400, false, 0);
    frame(2);
    ASSERT_TRUE(viewer_.events.marked);
    const Event event = lane().event(*viewer_.events.marked);
    EXPECT_GE(*viewer_.events.marked, before);
    EXPECT_LT(*viewer_.events.marked, viewer_.events.scroll.end());
    EXPECT_EQ(first(), before) << "what was clicked stays under the mouse";
    EXPECT_EQ(viewer_.playhead.step, event.step);
    EXPECT_NE(event.step, 40);
    const auto row = first_row(lane(), event);
    ASSERT_TRUE(row);
    EXPECT_EQ(viewer_.selected, (CellId{1, row->sequence, row->track, row->position}));
    const double shown = static_cast<double>(row->position);
    EXPECT_LE(viewer_.grid.first_position, shown);
    EXPECT_GE(viewer_.grid.first_position + viewer_.grid.positions, shown + 1);
}

TEST_F(EventList, ScrollsToTheEventThatIsAskedFor) {
    jump(viewer_.playhead, 9, viewer_.steps());
    frame();
    for (const std::int64_t number : {lane().events() - 1, std::int64_t{3}}) {
        focus_event(viewer_, 1, number);
        frame();
        EXPECT_EQ(viewer_.events.marked, number);
        EXPECT_LE(first(), number);
        EXPECT_GT(viewer_.events.scroll.end(), number);
        frame(3);
        EXPECT_LE(first(), number) << "and stays there";
    }
    EXPECT_FALSE(viewer_.event_focus);
    // Another lane is followed from where it is; a mark was of the lane before.
    viewer_.event_lane = 2;
    frame();
    EXPECT_FALSE(viewer_.events.marked);
    EXPECT_EQ(first(), viewer_.show.lanes()[2]->first_event(9));
    // The lane may have gone with its tape.
    viewer_.event_lane = 17;
    viewer_.event_focus = 1'000'000'000;
    frame();
    EXPECT_EQ(viewer_.event_lane, 0u);
    EXPECT_EQ(viewer_.events.marked, viewer_.show.lanes()[0]->events() - 1);
}

}  // namespace
}  // namespace kvtape
