// Whole frames without a window: a walk through everything that a person may do, in random order.
#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>
#include <cmath>

#include "core/random.h"
#include "support/null_imgui.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/panel.h"
#include "viewer/viewer.h"

namespace kvtape {
namespace {

class Frames : public testing::Test {
  protected:
    // Draws a frame, and checks that nothing in it is NaN or leaves the range of its indices.
    void frame(double seconds = 1.0 / 60) {
        ImGui::NewFrame();
        viewer_.frame(seconds);
        ImGui::Render();
        const ImDrawData& data = *ImGui::GetDrawData();
        for (int i = 0; i < data.CmdListsCount; ++i) {
            const ImDrawList& list = *data.CmdLists[i];
            for (const ImDrawVert& vertex : list.VtxBuffer) {
                ASSERT_TRUE(std::isfinite(vertex.pos.x) && std::isfinite(vertex.pos.y));
            }
            for (const ImDrawCmd& command : list.CmdBuffer) {
                for (unsigned k = 0; k < command.ElemCount; ++k) {
                    const auto index = list.IdxBuffer[static_cast<int>(command.IdxOffset + k)];
                    ASSERT_LT(command.VtxOffset + index,
                              static_cast<unsigned>(list.VtxBuffer.Size));
                }
            }
        }
    }

    NullImGui imgui_;
    NoTextures textures_;
    Viewer viewer_{textures_};
};

// Drawing a whole lane aside has no effect: what is written later is on show as well. And a drag is
// no click.
TEST_F(Frames, ADragOfAGridThatIsNotZoomedChangesNothing) {
    put_on_show({}, viewer_.show);
    viewer_.only_panel = "grid";
    frame();
    const GridGeometry::View view = viewer_.grids.at(0).view();
    const auto x = static_cast<float>(view.x + view.width / 2);
    const auto y = static_cast<float>(view.y + view.height / 2);
    const auto mouse = [&](float dx, float dy, bool down, float wheel = 0) {
        imgui_.set_mouse(x + dx, y + dy, down, wheel);
        frame();
    };
    mouse(0, 0, false);
    mouse(0, 0, true);
    mouse(3, 30, true);
    mouse(0, 60, true);
    mouse(0, 60, false);
    EXPECT_EQ(viewer_.grid.positions, 0);
    EXPECT_EQ(viewer_.grid.tracks, 0);
    EXPECT_EQ(viewer_.grid.first_position, 0);
    EXPECT_FALSE(viewer_.selected);
    // In and out again is where it was.
    mouse(0, 0, false, 1);
    EXPECT_GT(viewer_.grid.positions, 0);
    EXPECT_GT(viewer_.grid.tracks, 0);
    mouse(0, 0, false, -2);
    EXPECT_EQ(viewer_.grid.positions, 0);
    EXPECT_EQ(viewer_.grid.tracks, 0);
    mouse(0, 0, true);
    mouse(0, 0, false);
    EXPECT_TRUE(viewer_.selected);
}

TEST_F(Frames, TheLivePanelTakesTheRoomOfTheEventsAndGivesItBack) {
    put_on_show({}, viewer_.show);
    bool& events = viewer_.visible["events"];
    const auto live = [&](bool open) {
        viewer_.visible["live"] = open;
        frame();
    };
    for (const bool open_before : {true, false}) {
        live(false);
        events = open_before;
        live(true);
        EXPECT_FALSE(events);
        live(false);
        EXPECT_EQ(events, open_before);
    }
    // Opened by hand beside the live panel, it stays.
    live(true);
    events = true;
    live(false);
    EXPECT_TRUE(events);
}

TEST_F(Frames, FiveHundredOfARandomWalk) {
    put_on_show({}, viewer_.show);
    SyntheticTape longer;
    longer.caches = {"paged"};
    longer.decode_steps = 30;
    longer.block_size = 3;
    put_on_show(longer, viewer_.show);

    Random random(20);
    const auto below = [&](int n) {
        return static_cast<int>(random.unit() * static_cast<float>(n));
    };
    constexpr ImGuiKey keys[] = {ImGuiKey_Space,    ImGuiKey_RightArrow, ImGuiKey_LeftArrow,
                                 ImGuiKey_PageDown, ImGuiKey_PageUp,     ImGuiKey_Home,
                                 ImGuiKey_End,      ImGuiKey_UpArrow,    ImGuiKey_DownArrow,
                                 ImGuiKey_Escape,   ImGuiKey_Enter,      ImGuiKey_Backspace};
    constexpr char letters[] = "?hdpnfcl";
    float width = 1280, height = 720;
    bool down = false;
    for (int i = 0; i < 500; ++i) {
        SCOPED_TRACE("frame " + std::to_string(i));
        const ImGuiKey key = keys[below(static_cast<int>(std::size(keys)))];
        imgui_.set_key(key, below(2) == 0);
        if (below(4) == 0) {
            ImGui::GetIO().AddInputCharacter(
                static_cast<unsigned>(letters[below(static_cast<int>(std::size(letters)) - 1)]));
        }
        if (below(5) == 0) down = !down;
        imgui_.set_mouse(random.unit() * width, random.unit() * height, down,
                         below(6) == 0 ? random.unit() * 4 - 2 : 0);
        if (below(20) == 0) {
            width = 65 + random.unit() * 2500;
            height = 65 + random.unit() * 1400;
            imgui_.resize(width, height);
            viewer_.wants_layout = true;
        }
        if (below(10) == 0) {
            const auto panels = all_panels();
            bool& shown =
                viewer_.visible
                    [panels[static_cast<std::size_t>(below(static_cast<int>(panels.size())))].name];
            shown = !shown;
        }
        if (below(15) == 0) viewer_.dark = !viewer_.dark;
        frame(static_cast<double>(random.unit()));
        ASSERT_GE(viewer_.playhead.step, 0);
        ASSERT_LT(viewer_.playhead.step, viewer_.steps());
        ASSERT_TRUE(viewer_.playhead.within >= 0 && viewer_.playhead.within <= 1);
    }
}

TEST_F(Frames, EveryPanelAloneOnEveryKindOfTape) {
    for (const Panel& panel : all_panels()) {
        for (const std::vector<std::string>& caches :
             {std::vector<std::string>{}, {"none"}, {"contiguous"}, {"paged"}, {"none", "paged"}}) {
            for (const std::int64_t decode_steps : {0, 3}) {
                SCOPED_TRACE(std::string(panel.name) + " on " + std::to_string(caches.size()));
                viewer_.close_all();
                SyntheticTape tape;
                tape.caches = caches;
                tape.decode_steps = decode_steps;
                put_on_show(tape, viewer_.show);
                jump(viewer_.playhead, 0, viewer_.steps());
                viewer_.only_panel = panel.name;
                for (int i = 0; i < 3; ++i) frame();
            }
        }
    }
}

// PC-TV-11: nothing is divided by a size of 0, and afterwards all stands where it would have stood.
TEST_F(Frames, OfAWindowWithoutSize) {
    put_on_show({}, viewer_.show);
    jump(viewer_.playhead, 1, viewer_.steps());
    const auto frames = [&](float width, float height) {
        imgui_.resize(width, height);
        viewer_.wants_layout = true;
        for (int i = 0; i < 10; ++i) frame();
    };
    frames(800, 600);
    const GridGeometry::View before = viewer_.grids.at(1).view();
    frames(0, 0);
    frames(1, 1);
    frames(800, 600);
    const GridGeometry::View after = viewer_.grids.at(1).view();
    EXPECT_EQ(after.x, before.x);
    EXPECT_EQ(after.width, before.width);
    EXPECT_EQ(after.height, before.height);
}

// PC-TV-13: no steps, and lanes.
TEST_F(Frames, OfATapeWithoutSteps) {
    TestFolder folder;
    TapeWriter writer(folder / "t.tape", SyntheticTape{}.header(), Overwrite::yes);
    writer.close("the prompt is too long");
    ASSERT_TRUE(viewer_.open(folder / "t.tape"));
    for (int i = 0; i < 5; ++i) frame();
    for (const ImGuiKey key : {ImGuiKey_Space, ImGuiKey_RightArrow, ImGuiKey_End}) {
        imgui_.set_key(key, true);
        frame();
        imgui_.set_key(key, false);
        frame();
    }
}

TEST_F(Frames, AnErrorIsAMessageInTheWindow) {
    EXPECT_FALSE(viewer_.open("no/such.tape"));
    EXPECT_NE(viewer_.message, "");
    frame();
    imgui_.set_key(ImGuiKey_Escape, true);
    frame();
    EXPECT_EQ(viewer_.message, "");
}

TEST_F(Frames, KeysPlayStepAndJump) {
    put_on_show({}, viewer_.show);
    jump(viewer_.playhead, 0, viewer_.steps());
    const auto press = [&](ImGuiKey key) {
        imgui_.set_key(key, true);
        frame(0);
        imgui_.set_key(key, false);
        frame(0);
    };
    press(ImGuiKey_End);
    EXPECT_EQ(viewer_.playhead.step, viewer_.steps() - 1);
    press(ImGuiKey_Home);
    EXPECT_EQ(viewer_.playhead.step, 0);
    press(ImGuiKey_RightArrow);
    EXPECT_EQ(viewer_.playhead.step, 1);
    EXPECT_TRUE(viewer_.playhead.playing);
    frame(10);
    frame(10);
    EXPECT_EQ(viewer_.playhead.step, 1);
    EXPECT_EQ(viewer_.playhead.within, 1);
    press(ImGuiKey_Space);
    EXPECT_TRUE(viewer_.playhead.playing);
    press(ImGuiKey_Space);
    EXPECT_FALSE(viewer_.playhead.playing);
    ImGui::GetIO().AddInputCharacter('p');
    frame(0);
    EXPECT_EQ(viewer_.playhead.step, 0);
    ImGui::GetIO().AddInputCharacter('d');
    frame(0);
    EXPECT_EQ(viewer_.playhead.step, 1);
    ImGui::GetIO().AddInputCharacter('n');  // no step preempts
    frame(0);
    EXPECT_NE(viewer_.message, "");
}

TEST_F(Frames, AFileThatIsNoTapeLeavesWhatIsOnShow) {
    TestFolder folder;
    write_tape({}, folder / "t.tape");
    write_file(folder / "x.tape", "hello");
    put_on_show({}, viewer_.show);
    const std::int64_t cleared = viewer_.show.times_cleared();
    viewer_.open_instead({folder / "x.tape", "no/such.tape"});
    EXPECT_EQ(viewer_.show.times_cleared(), cleared);
    EXPECT_EQ(viewer_.show.lanes().size(), 3u);
    EXPECT_NE(viewer_.message.find("x.tape' is not a tape"), std::string::npos);
    EXPECT_NE(viewer_.message.find("\ntape 'no/such.tape' cannot"), std::string::npos);
    frame();

    // What can be opened is, and the rest is not forgotten over it.
    viewer_.events.follow = false;
    viewer_.event_lane = 2;
    viewer_.open_instead({folder / "x.tape", folder / "t.tape"});
    EXPECT_EQ(viewer_.show.tapes().size(), 1u);
    EXPECT_NE(viewer_.message.find("x.tape' is not a tape"), std::string::npos);
    EXPECT_EQ(viewer_.message.find("no/such"), std::string::npos);
    EXPECT_TRUE(viewer_.playhead.playing);
    EXPECT_TRUE(viewer_.events.follow);
    EXPECT_EQ(viewer_.event_lane, 0u);
    EXPECT_TRUE(viewer_.open(folder / "t.tape"));
    EXPECT_NE(viewer_.message.find("x.tape' is not a tape"), std::string::npos);
    viewer_.open_instead({folder / "t.tape"});
    EXPECT_EQ(viewer_.message, "");
}

TEST_F(Frames, FollowATapeThatGrowsAndSayWhenItCannotBeRead) {
    TestFolder folder;
    const SyntheticTape tape;
    TapeWriter writer(folder / "t.tape", tape.header(), Overwrite::yes);
    viewer_.open_instead({folder / "t.tape"});
    frame();
    for (std::int64_t step = 0; step < 3; ++step) {
        for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape.step(lane, step));
        frame(10);
        EXPECT_EQ(viewer_.playhead.step, step);
        EXPECT_EQ(viewer_.playhead.within, 1);
    }
    jump(viewer_.playhead, 0, viewer_.steps());
    for (std::int32_t lane = 0; lane < 3; ++lane) writer.write(tape.step(lane, 3));
    frame(10);
    EXPECT_EQ(viewer_.playhead.step, 0);
    EXPECT_EQ(viewer_.steps(), 4);

    write_file(folder / "t.tape", "short");
    for (int i = 0; i < 3; ++i) frame();
    EXPECT_EQ(viewer_.steps(), 4);
    EXPECT_NE(viewer_.message.find("written anew"), std::string::npos);
    EXPECT_EQ(viewer_.message.find('\n'), std::string::npos) << "said once";
}

TEST_F(Frames, KeepPanelsWhereTheUserPutThem) {
    put_on_show({}, viewer_.show);
    const auto place = [](const char* title) {
        const ImGuiWindow& window = *ImGui::FindWindowByName(title);
        return Rect{window.Pos.x, window.Pos.y, window.Size.x, window.Size.y};
    };
    for (int i = 0; i < 3; ++i) frame();
    const Rect grid = place("Cache grid"), costs = place("Costs");
    // By its title, 10 pixels to the right and 20 up.
    imgui_.set_mouse(costs.x + 100, costs.y + 8, false, 0);
    frame();
    imgui_.set_mouse(costs.x + 100, costs.y + 8, true, 0);
    frame();
    for (int i = 0; i < 3; ++i) {
        imgui_.set_mouse(costs.x + 110, costs.y - 12, true, 0);
        frame();
    }
    imgui_.set_mouse(costs.x + 110, costs.y - 12, false, 0);
    frame();
    EXPECT_EQ(place("Costs").x, costs.x + 10);
    EXPECT_EQ(place("Costs").y, costs.y - 20);
    ASSERT_EQ(viewer_.moved_panels.size(), 1u);

    imgui_.resize(1281, 720);
    frame();
    frame();
    EXPECT_NEAR(place("Costs").x, costs.x + 10, 1.01f);
    EXPECT_NEAR(place("Costs").y, costs.y - 20, 1.01f);
    imgui_.resize(2560, 1440);
    frame();
    frame();
    EXPECT_NEAR(place("Costs").x, 2 * (costs.x + 10), 2.01f);
    const Rect wide = place("Cache grid");  // follows the window, as nobody has moved it
    EXPECT_GT(wide.width, 1.9f * grid.width);

    // Another panel that is closed and opened again is where the new size has it.
    viewer_.visible["grid"] = false;
    frame();
    imgui_.resize(1280, 720);
    frame();
    viewer_.visible["grid"] = true;
    frame();
    EXPECT_EQ(place("Cache grid").width, grid.width);

    viewer_.wants_layout = true;
    frame();
    frame();
    EXPECT_EQ(place("Costs").x, costs.x);
    EXPECT_EQ(place("Costs").y, costs.y);
    EXPECT_TRUE(viewer_.moved_panels.empty());
}

TEST_F(Frames, TheLayoutToRememberLacksWhatTheStartDecides) {
    put_on_show({}, viewer_.show);
    viewer_.visible["costs"] = false;
    frame();
    viewer_.visible["live"] = true;  // takes the room of the events
    viewer_.dark = false;
    frame();
    const Layout layout = viewer_.layout();
    EXPECT_FALSE(layout.dark);
    EXPECT_FALSE(layout.visible.at("costs"));
    EXPECT_TRUE(layout.visible.at("events"));
    EXPECT_TRUE(layout.visible.at("grid"));
    EXPECT_FALSE(layout.visible.contains("live"));
    EXPECT_FALSE(layout.visible.contains("guide"));
}

// Half of a number is another number: with few lanes and with many, no column of a table is
// narrower than what stands in it.
TEST_F(Frames, NoNumberIsCut) {
    viewer_.only_panel = "side-by-side";
    SyntheticTape large;
    large.prompt = 3000;
    for (int lanes = 3; lanes <= 12; lanes += 3) {
        put_on_show(large, viewer_.show);
        jump(viewer_.playhead, 2, viewer_.steps());
        for (const float width : {1280.0f, 950.0f, 400.0f}) {
            imgui_.resize(width, 160);
            for (int i = 0; i < 4; ++i) frame();
            const auto& tables = ImGui::GetCurrentContext()->Tables;
            const ImGuiTable* latest = nullptr;
            for (int i = 0; i < tables.GetMapSize(); ++i) {
                const ImGuiTable* const table = ImGui::GetCurrentContext()->Tables.TryGetMapData(i);
                if (table != nullptr && table->LastFrameActive == ImGui::GetFrameCount()) {
                    latest = table;
                }
            }
            ASSERT_NE(latest, nullptr);
            for (int i = 0; i < latest->ColumnsCount; ++i) {
                const ImGuiTableColumn& column = latest->Columns[i];
                EXPECT_LE(std::max(column.ContentMaxXUnfrozen, column.ContentMaxXFrozen),
                          column.WorkMaxX + 0.5f)
                    << "column " << i << " of " << lanes << " lanes in " << width << " pixels";
            }
        }
    }
}

}  // namespace
}  // namespace kvtape
