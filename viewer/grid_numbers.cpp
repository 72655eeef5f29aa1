#include "viewer/grid_numbers.h"

#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <string>

#include "core/kv_dtype.h"
#include "core/number_text.h"
#include "viewer/row_values.h"
#include "viewer/values_widget.h"

namespace kvtape {
namespace {

// The least size of a cell, in letters, that shows its numbers.
constexpr double least_width_ems = 3, least_height_ems = 1.4;

// Instead of numbers that the tape does not have, where there is room to say so.
void draw_remedy(const Rect& box, const LaneHistory& lane, const Palette& palette) {
    const std::string text = with_commas(lane.shape().head_dim) + " numbers of " +
                             name(lane.lane().kv_cache_dtype) +
                             ", not on this tape: record it with --tape-values";
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float margin = ImGui::GetFontSize() / 2;
    if (size.x + 2 * margin > box.width || size.y > box.height) return;
    const ImVec2 at{box.x + (box.width - size.x) / 2, box.y + (box.height - size.y) / 2};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddRectFilled({at.x - margin, at.y}, {at.x + size.x + margin, at.y + size.y},
                       palette.panel);
    draw.AddText(at, palette.text, text.c_str());
}

}  // namespace

void draw_numbers_in_cells(const Viewer& viewer, std::size_t lane_index,
                           const GridGeometry& geometry) {
    const LaneHistory& lane = *viewer.show.lanes()[lane_index];
    if (lane.steps() == 0) return;
    const auto em = static_cast<double>(ImGui::GetFontSize());
    if (geometry.cell_width() < em * least_width_ems ||
        geometry.cell_height() < em * least_height_ems) {
        return;
    }
    const GridGeometry::View& view = geometry.view();
    const auto first = static_cast<std::int64_t>(view.first_position);
    const auto last = static_cast<std::int64_t>(std::ceil(view.first_position + view.positions));
    const auto first_track = static_cast<std::int64_t>(view.first_track);
    const auto last_track = static_cast<std::int64_t>(std::ceil(view.first_track + view.tracks));
    const std::int64_t tracks = std::min(last_track, track_count(lane.shape()));
    const double rim = std::max(2.0, em / 5);
    const Playhead at = viewer.playhead_of(lane);
    std::vector<Cell> cells(  // (columns in view)
        static_cast<std::size_t>(std::max<std::int64_t>(last - first, 0)));
    for (std::int64_t track = first_track; track < tracks; ++track) {
        const TrackId id = track_id(lane.shape(), track);
        lane.playback().cells(at.step, viewer.grid.sequence, id.layer, id.kv_head, id.kind, first,
                              cells);
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const Cell& cell = cells[i];
            if (!cell.filled || (cell.written_now && share_written(at.within) <= 0)) continue;
            const auto position = static_cast<double>(first) + static_cast<double>(i);
            const Rect box{static_cast<float>(geometry.left(position) + rim),
                           static_cast<float>(geometry.top(static_cast<double>(track)) + rim),
                           static_cast<float>(geometry.cell_width() - 2 * rim),
                           static_cast<float>(geometry.cell_height() - 2 * rim)};
            if (lane.has_row_values()) {
                draw_values(box, row_values(lane, id, cell), viewer.palette());
            } else {
                draw_remedy(box, lane, viewer.palette());
            }
        }
    }
}

}  // namespace kvtape
