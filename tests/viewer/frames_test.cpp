// Whole frames without a window: a walk through everything that a person may do, in random order.
#include <gtest/gtest.h>
#include <imgui.h>
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

}  // namespace
}  // namespace kvtape
