#include <imgui.h>
#include <array>
#include <cmath>

#include "viewer/panel.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// A strip above the slider: which steps are prefill, which decode, by the first lane.
void draw_phases(const Viewer& viewer, float width) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = 4 * viewer.scale;
    const LaneHistory& lane = *viewer.show.lanes().front();
    const auto steps = static_cast<float>(viewer.steps());
    for (std::int64_t begin = 0; begin < lane.steps();) {
        std::int64_t end = begin + 1;
        while (end < lane.steps() && lane.step(end).phase == lane.step(begin).phase) ++end;
        const Rgba colour = lane.step(begin).phase == Phase::prefill ? viewer.palette().prefill
                                                                     : viewer.palette().decode;
        draw.AddRectFilled({at.x + width * static_cast<float>(begin) / steps, at.y},
                           {at.x + width * static_cast<float>(end) / steps, at.y + height}, colour);
        begin = end;
    }
    ImGui::Dummy({width, height});
}

}  // namespace

void draw_transport(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    Playhead& playhead = viewer.playhead;
    const std::int64_t steps = viewer.steps();
    const float em = ImGui::GetFontSize();

    const auto button = [&](const char* label, const char* what) {
        const bool pressed = ImGui::Button(label, {em * 2.4f, 0});
        hint(what);
        ImGui::SameLine();
        return pressed;
    };
    if (button("|<##first", "First step (home)")) jump(playhead, 0, steps);
    if (button("<##back", "Back one step (left)")) {
        jump(playhead, playhead.within < 1 ? playhead.step : playhead.step - 1, steps);
    }
    if (button(playhead.playing ? "||##play" : "\xe2\x96\xb6##play", "Play or pause (space)")) {
        toggle(playhead, steps);
    }
    if (button(">##on", "Play one step (right)")) play_one(playhead, steps);
    if (button(">|##last", "Last step (end)")) jump(playhead, steps - 1, steps);

    // Sliders stand beside their texts: a grip would hide them.
    ImGui::SetNextItemWidth(em * 7);
    auto speed = static_cast<float>(playhead.steps_per_second);
    if (ImGui::SliderFloat("##speed", &speed, 0.125f, 64, "", ImGuiSliderFlags_Logarithmic)) {
        playhead.steps_per_second = static_cast<double>(speed);
    }
    hint("Speed (up, down)");
    ImGui::SameLine(0, em * 0.4f);
    ImGui::Text("%.3g steps/s", playhead.steps_per_second);
    ImGui::SameLine(0, em);
    if (ImGui::Button("Prefill")) jump_to_phase(viewer, Phase::prefill);
    hint("Go to the first prefill step (p)");
    ImGui::SameLine();
    if (ImGui::Button("Decode")) jump_to_phase(viewer, Phase::decode);
    hint("Go to the first decode step (d)");
    ImGui::SameLine();
    if (ImGui::Button("Preemption")) jump_to_next_preemption(viewer);
    hint("Go to the next step that preempts a sequence (n)");
    ImGui::SameLine();
    const LaneHistory& lane = *viewer.show.lanes().front();
    std::string where = "step " + with_commas(playhead.step) + " of 0 to " + with_commas(steps - 1);
    if (lane.steps() > 0) where += ": " + step_title(lane.step(viewer.step_of(lane)));
    ImGui::TextUnformatted(where.c_str());

    const float width = ImGui::GetContentRegionAvail().x;
    draw_phases(viewer, width);
    ImGui::SetNextItemWidth(width);
    std::int64_t step = playhead.step, first = 0, last = steps - 1;
    ImGui::BeginDisabled(steps < 2);
    if (ImGui::SliderScalar("##step", ImGuiDataType_S64, &step, &first, &last, "")) {
        jump(playhead, step, steps);
    }
    ImGui::EndDisabled();
}

}  // namespace kvtape
