#include "viewer/grid_controls.h"

#include <imgui.h>
#include <algorithm>
#include <vector>

#include "viewer/viewer.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void draw_legend_entry(Rgba colour, const char* label, const char* meaning) {
    const float size = ImGui::GetFontSize() * 0.8f;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float drop = (ImGui::GetFrameHeight() - size) / 2;
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + drop},
                                              {at.x + size, at.y + drop + size}, colour, 2);
    ImGui::Dummy({size, ImGui::GetFrameHeight()});
    hint(meaning);
    ImGui::SameLine(0, ImGui::GetFontSize() * 0.35f);
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(label);
    hint(meaning);
}

void draw_legend(const Viewer& viewer) {
    const Palette& palette = viewer.palette();
    const auto entry = [](Rgba colour, const char* label, const char* meaning) {
        ImGui::SameLine(0, ImGui::GetFontSize());
        draw_legend_entry(colour, label, meaning);
    };
    switch (viewer.grid.by) {
        case ColourBy::phase:
            entry(palette.prefill, "prefill", "The row was written while the prompt was read.");
            entry(palette.decode, "decode", "The row was appended by a decode step.");
            break;
        case ColourBy::age:
            entry(palette.hot, "new", "Written in one of the last steps.");
            entry(palette.cold, "old", "Written in the first step.");
            break;
        case ColourBy::reads:
            entry(palette.cold, "read once", "By one query head.");
            entry(palette.hot, "most", "Read more often than any other row of its line.");
            break;
        case ColourBy::dtype_error:
            entry(palette.cold, "exact", "Storing changed no value by more than float32 can show.");
            entry(palette.hot, "1/8 off", "The worst relative error of the step in this layer.");
            entry(palette.not_finite, "not finite", "Infinity or NaN was stored.");
            break;
        case ColourBy::sequence:
            entry(palette.series[static_cast<std::size_t>(viewer.grid.sequence) % 8],
                  ("sequence " + std::to_string(viewer.grid.sequence)).c_str(),
                  "Each sequence has a colour of its own.");
            break;
    }
    entry(palette.written_now, "written in this step", "K and V rows that this step computed.");
    entry(palette.read_now, "being read", "Rows that attention fetches in this step.");
    entry(palette.empty, "empty", "No row is there.");
}

}  // namespace

void draw_grid_controls(Viewer& viewer) {
    GridView& view = viewer.grid;
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted("Colour by");
    ImGui::SameLine();
    ImGui::SetNextItemWidth(ImGui::GetFontSize() * 9);
    if (ImGui::BeginCombo("##by", name(view.by))) {
        for (const ColourBy by : all_colour_modes) {
            if (ImGui::Selectable(name(by), by == view.by)) view.by = by;
        }
        ImGui::EndCombo();
    }
    hint("What the colour of a cell tells (c)");
    std::vector<std::int32_t> sequences;
    for (const auto& lane : viewer.show.lanes()) {
        for (const std::int32_t s : lane->sequences()) {
            if (std::find(sequences.begin(), sequences.end(), s) == sequences.end()) {
                sequences.push_back(s);
            }
        }
    }
    if (sequences.size() > 1) {
        ImGui::SameLine();
        ImGui::SetNextItemWidth(ImGui::GetFontSize() * 8);
        if (ImGui::BeginCombo("##sequence",
                              ("sequence " + std::to_string(view.sequence)).c_str())) {
            for (const std::int32_t s : sequences) {
                if (ImGui::Selectable(("sequence " + std::to_string(s)).c_str(),
                                      s == view.sequence)) {
                    view.sequence = s;
                }
            }
            ImGui::EndCombo();
        }
    }
    draw_legend(viewer);
}

}  // namespace kvtape
