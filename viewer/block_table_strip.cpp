// The block table, drawn above the pool.
#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "viewer/pool_widget.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

constexpr float least_pitch = 5;     // of logical blocks that can be told apart
constexpr float arrow_distance = 6;  // in pixels

void draw_arrow(const ImVec2& from, const ImVec2& to, Rgba colour, float scale) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float head = 4 * scale;
    const float end = to.y - head;
    const float bend = std::max((end - from.y) * 0.5f, 2.0f);
    draw.AddBezierCubic(from, {from.x, from.y + bend}, {to.x, end - bend}, {to.x, end}, colour,
                        scale, 24);
    draw.AddTriangleFilled({to.x - head * 0.7f, end}, {to.x + head * 0.7f, end}, to, colour);
}

}  // namespace

void draw_block_table(const Viewer& viewer, std::size_t lane, ImVec2 at, float width, float height,
                      const PoolArea& area) {
    const LaneHistory& history = *viewer.show.lanes()[lane];
    const std::map<std::int64_t, std::int64_t> table =
        history.playback().block_table(viewer.step_of(history), viewer.grid.sequence);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Palette& palette = viewer.palette();
    const float em = ImGui::GetFontSize();
    const float scale = viewer.scale;

    // The name of the strip, if that leaves room for the strip.
    std::string name = "sequence " + std::to_string(viewer.grid.sequence);
    if (table.empty()) name += " holds no blocks";
    if (table.empty() || width > em * 30) {
        draw.AddText(at, palette.faint_text, name.c_str());
        at.x += ImGui::CalcTextSize(name.c_str()).x + em;
        width -= ImGui::CalcTextSize(name.c_str()).x + em;
    }
    if (table.empty()) return;

    const auto entries = static_cast<float>(table.size());
    const float pitch = std::min(width / entries, em * 2.2f);
    const bool boxes = pitch >= least_pitch * scale;
    if (!boxes) {
        draw.AddRectFilled(at, {at.x + pitch * entries, at.y + height}, palette.frame, 2);
    }
    const auto every =
        static_cast<std::int64_t>(std::max(std::ceil(arrow_distance * scale / pitch), 1.0f));
    const std::int64_t newest = std::prev(table.end())->first;
    std::int64_t i = 0;
    for (const auto& [index, block] : table) {
        const float left = at.x + pitch * static_cast<float>(i);
        const float middle = left + (pitch - scale) / 2;
        const bool strong = index == newest;
        if (boxes) {
            draw.AddRectFilled({left, at.y}, {left + pitch - scale, at.y + height},
                               strong ? mix(palette.frame, palette.accent, 0.45) : palette.frame,
                               2);
            const std::string number = std::to_string(index);
            const ImVec2 size = ImGui::CalcTextSize(number.c_str());
            if (size.x <= pitch - 2 * scale) {
                draw.AddText({middle - size.x / 2, at.y + (height - size.y) / 2}, palette.text,
                             number.c_str());
            }
        }
        const PoolMap::Box box = area.map.box(block);
        if ((i % every == 0 || strong) && area.shows(box)) {
            constexpr Rgba see_through = 0xb0ffffff;
            draw_arrow({middle, at.y + height},
                       {(area.min_of(box).x + area.max_of(box).x) / 2,
                        std::max(area.min_of(box).y, area.clip_min.y)},
                       strong ? palette.accent : palette.faint_text & see_through, scale);
        }
        ++i;
    }
}

}  // namespace kvtape
