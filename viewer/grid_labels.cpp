#include "viewer/grid_labels.h"

#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <string>

#include "core/number_text.h"

namespace kvtape {
namespace {

// The least width of a column that carries the text of its token.
constexpr double least_token_ems = 2.2;

}  // namespace

std::int64_t longest_of_all(const Viewer& viewer) {
    std::int64_t most = 0;
    for (const auto& lane : viewer.show.lanes()) {
        most = std::max(most, lane->longest(viewer.grid.sequence));
    }
    if (viewer.pass && viewer.pass->sequence == viewer.grid.sequence) {
        most = std::max(most, viewer.pass->position_end);
    }
    return most;
}

Window positions_in_view(const GridView& view, std::int64_t all) {
    const auto most = static_cast<double>(std::max<std::int64_t>(all, 1));
    const double count = view.positions > 0 ? std::min(view.positions, most) : most;
    return moved({view.first_position, count}, 0, most);
}

float axis_height() {
    return ImGui::GetFontSize() * 1.4f;
}

float label_width() {
    return ImGui::GetFontSize() * 6;
}

bool tokens_fit(const Viewer& viewer, float lane_width, std::int64_t all) {
    const double shown = positions_in_view(viewer.grid, all).count;
    return static_cast<double>(lane_width - label_width()) / shown >=
           static_cast<double>(ImGui::GetFontSize()) * least_token_ems;
}

void draw_track_labels(const LaneHistory& lane, const GridGeometry& geometry, const Rect& labels,
                       const Palette& palette) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ModelShape& shape = lane.shape();
    const auto text_height = static_cast<double>(ImGui::GetFontSize());
    const std::int64_t per_layer = 2 * shape.kv_heads;
    const bool each = geometry.cell_height() >= text_height;
    // As many lines apart as a label needs.
    std::int64_t step = each ? 1 : per_layer;
    while (geometry.cell_height() * static_cast<double>(step) < text_height) step += per_layer;
    for (std::int64_t track = 0; track < track_count(shape); track += step) {
        const TrackId id = track_id(shape, track);
        const double span = geometry.cell_height() * static_cast<double>(each ? 1 : per_layer);
        const double middle = geometry.top(static_cast<double>(track)) +
                              std::max(span, text_height) / 2 - text_height / 2;
        std::string label = "layer " + std::to_string(id.layer);
        if (each) {
            label = (id.kv_head == 0 && id.kind == Kind::key ? label + "  " : std::string()) + "h" +
                    std::to_string(id.kv_head) + (id.kind == Kind::key ? " K" : " V");
        }
        if (middle + text_height > static_cast<double>(labels.y + labels.height) + 2) break;
        const float width = ImGui::CalcTextSize(label.c_str()).x;
        draw.AddText({labels.x + labels.width - width - ImGui::GetFontSize() * 0.5f,
                      static_cast<float>(middle)},
                     palette.faint_text, label.c_str());
    }
}

void draw_token_labels(const LaneHistory& lane, const Viewer& viewer, const GridGeometry& geometry,
                       const Rect& labels) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Palette& palette = viewer.palette();
    const auto first = static_cast<std::int64_t>(geometry.view().first_position);
    const auto last = static_cast<std::int64_t>(
        std::ceil(geometry.view().first_position + geometry.view().positions));
    const std::int64_t all = longest_of_all(viewer);
    const float em = ImGui::GetFontSize();
    draw.PushClipRect({labels.x, labels.y}, {labels.x + labels.width, labels.y + labels.height},
                      true);
    if (geometry.cell_width() >= static_cast<double>(em) * least_token_ems) {
        for (std::int64_t p = first; p < std::min(last, all); ++p) {
            const float x = static_cast<float>(geometry.left(static_cast<double>(p)));
            const float right = static_cast<float>(geometry.left(static_cast<double>(p + 1)));
            draw.PushClipRect({x, labels.y}, {right, labels.y + labels.height}, true);
            draw.AddText({x + 2, labels.y + 1}, palette.text,
                         lane.text(viewer.grid.sequence, p).c_str());
            draw.PopClipRect();
        }
    } else {
        std::int64_t apart = 1;
        const std::int64_t factors[] = {2, 5, 10};
        for (std::int64_t ten = 1;
             geometry.cell_width() * static_cast<double>(apart) < static_cast<double>(em) * 3.5;
             ten *= 10) {
            for (const std::int64_t factor : factors) {
                apart = ten * factor;
                if (geometry.cell_width() * static_cast<double>(apart) >=
                    static_cast<double>(em) * 3.5) {
                    break;
                }
            }
        }
        for (std::int64_t p = (first + apart - 1) / apart * apart; p < std::min(last, all);
             p += apart) {
            const float x = static_cast<float>(geometry.left(static_cast<double>(p)));
            draw.AddLine({x, labels.y}, {x, labels.y + em * 0.3f}, palette.line);
            draw.AddText({x + 2, labels.y + 1}, palette.faint_text, with_commas(p).c_str());
        }
    }
    draw.PopClipRect();
}

}  // namespace kvtape
