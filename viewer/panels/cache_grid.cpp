// The cache itself. Each lane is a grid: lines are tracks (layer, KV head, K or V), columns are
// positions, and the tokens stand under the columns. The wheel zooms, dragging moves.
#include <imgui.h>
#include <algorithm>
#include <cmath>

#include "core/kv_dtype.h"
#include "viewer/event_search.h"
#include "viewer/grid_controls.h"
#include "viewer/grid_geometry.h"
#include "viewer/grid_labels.h"
#include "viewer/grid_numbers.h"
#include "viewer/guide.h"
#include "viewer/imgui_compat.h"
#include "viewer/panel.h"
#include "viewer/pass_in_cells.h"
#include "viewer/selection.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

Window tracks_in_view(const GridView& view, std::int64_t all) {
    const auto most = static_cast<double>(std::max<std::int64_t>(all, 1));
    const double count = view.tracks > 0 ? std::min(view.tracks, most) : most;
    return moved({view.first_track, count}, 0, most);
}

// Neighbouring tracks that share a line of the picture are drawn as one.
void draw_cells(const Viewer::Picture& picture, const GridGeometry& geometry, std::int64_t tracks) {
    if (picture.shown.pixels == 0) return;
    const auto left = static_cast<float>(geometry.left(picture.shown.first));
    const auto right = static_cast<float>(geometry.left(picture.shown.first + picture.shown.count));
    for (std::int64_t begin = 0; begin < tracks;) {
        const std::int64_t line = picture.image.line_of(begin);
        std::int64_t end = begin + 1;
        while (end < tracks && picture.image.line_of(end) == line) ++end;
        const float v =
            (static_cast<float>(line) + 0.5f) / static_cast<float>(picture.image.lines());
        add_texels(*ImGui::GetWindowDrawList(), picture.texture,
                   {left, static_cast<float>(geometry.top(static_cast<double>(begin)))},
                   {right, static_cast<float>(geometry.top(static_cast<double>(end)))}, {0, v},
                   {1, v});
        begin = end;
    }
}

// Lines between layers, and between cells where they are large.
void draw_lines(const LaneHistory& lane, const GridGeometry& geometry, const Rect& cells,
                const Palette& palette) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::int64_t tracks = track_count(lane.shape());
    const std::int64_t per_layer = 2 * lane.shape().kv_heads;
    if (geometry.cell_width() >= 6) {
        const auto first = static_cast<std::int64_t>(geometry.view().first_position);
        const auto last = static_cast<std::int64_t>(geometry.view().first_position +
                                                    geometry.view().positions + 1);
        for (std::int64_t p = first; p <= last; ++p) {
            const float x = static_cast<float>(geometry.left(static_cast<double>(p)));
            draw.AddLine({x, cells.y}, {x, cells.y + cells.height}, palette.panel);
        }
    }
    for (std::int64_t track = 0; track <= tracks; ++track) {
        const bool layer = track % per_layer == 0;
        if (!layer && geometry.cell_height() < 6) continue;
        if (layer && geometry.cell_height() * static_cast<double>(per_layer) < 5) continue;
        const float y = static_cast<float>(geometry.top(static_cast<double>(track)));
        if (y < cells.y - 1 || y > cells.y + cells.height + 1) continue;
        // Never so thick that it hides what it divides.
        const float thick =
            layer ? std::clamp(static_cast<float>(geometry.cell_height()) / 4, 1.0f, 3.0f) : 1.0f;
        draw.AddRectFilled({cells.x, std::round(y - thick / 2)},
                           {cells.x + cells.width, std::round(y + thick / 2)}, palette.panel);
    }
}

void outline(const GridGeometry& geometry, std::int64_t track, std::int64_t position, Rgba colour) {
    const auto t = static_cast<double>(track), p = static_cast<double>(position);
    ImGui::GetWindowDrawList()->AddRect(
        {static_cast<float>(geometry.left(p)) - 1, static_cast<float>(geometry.top(t)) - 1},
        {static_cast<float>(geometry.left(p + 1)) + 1, static_cast<float>(geometry.top(t + 1)) + 1},
        colour, 0.0f, 0, 2.0f);
}

// A frame around what the guide speaks of. Where it would be cut off, it stands inside the grid.
void outline(const GridGeometry& geometry, const GuideCells& framed, const Rect& cells,
             const Palette& palette, float thick) {
    const auto x = [&](std::int64_t position) {
        return static_cast<float>(geometry.left(static_cast<double>(position)));
    };
    const auto y = [&](std::int64_t track) {
        return static_cast<float>(geometry.top(static_cast<double>(track)));
    };
    const float left = x(framed.first_position), top = y(framed.first_track);
    const float right = x(framed.first_position + framed.positions);
    const float bottom = y(framed.first_track + framed.tracks);
    const Rect inside{cells.x + thick / 2, cells.y + thick / 2, cells.width - thick,
                      cells.height - thick};
    if (right < cells.x || left > cells.x + cells.width) return;
    if (bottom < cells.y || top > cells.y + cells.height) return;
    ImGui::GetWindowDrawList()->AddRect({std::max(left - thick, inside.x), std::max(top, inside.y)},
                                        {std::min(right + thick, inside.x + inside.width),
                                         std::min(bottom, inside.y + inside.height)},
                                        palette.pointer, 0, 0, thick);
}

void draw_cell_tooltip(const Viewer& viewer, const LaneHistory& lane, const CellId& id) {
    const Cell cell = lane.playback().cell(viewer.step_of(lane), id.sequence, id.track.layer,
                                           id.track.kv_head, id.track.kind, id.position);
    ImGui::BeginTooltip();
    ImGui::Text("layer %d, KV head %d, %s, position %s", id.track.layer, id.track.kv_head,
                id.track.kind == Kind::key ? "K" : "V", with_commas(id.position).c_str());
    ImGui::Text("token '%s'", lane.text(id.sequence, id.position).c_str());
    if (cell.filled) {
        ImGui::Text("written in step %s (%s), read %s times",
                    with_commas(cell.written_step).c_str(), name(cell.written_phase),
                    with_commas(cell.times_read).c_str());
    } else {
        ImGui::TextDisabled("empty");
    }
    ImGui::EndTooltip();
}

// 0 where it is all of them: then it stays all of them when a lane grows, or has more tracks.
double count_in_view(const Window& window, std::int64_t all) {
    return window.count >= static_cast<double>(all) ? 0 : window.count;
}

// Whether the mouse button was let go where it was pressed.
bool clicked() {
    const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    return ImGui::IsMouseReleased(ImGuiMouseButton_Left) && std::abs(drag.x) < 4 &&
           std::abs(drag.y) < 4;
}

void handle_mouse(Viewer& viewer, std::size_t lane_index, const GridGeometry& geometry,
                  std::int64_t tracks) {
    const LaneHistory& lane = *viewer.show.lanes()[lane_index];
    GridView& view = viewer.grid;
    const ImGuiIO& io = ImGui::GetIO();
    const std::int64_t all = longest_of_all(viewer);
    const double x = static_cast<double>(io.MousePos.x), y = static_cast<double>(io.MousePos.y);
    const auto& v = geometry.view();
    if (io.MouseWheel != 0) {
        const double factor = std::pow(1.25, -static_cast<double>(io.MouseWheel));
        Window positions = zoomed({v.first_position, v.positions}, factor, (x - v.x) / v.width,
                                  static_cast<double>(all));
        view.first_position = positions.first;
        view.positions = count_in_view(positions, all);
        if (!io.KeyShift) {  // with shift, only the columns
            const Window lines = zoomed({v.first_track, v.tracks}, factor, (y - v.y) / v.height,
                                        static_cast<double>(tracks));
            view.first_track = lines.first;
            view.tracks = count_in_view(lines, tracks);
        }
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
        view.first_position = moved({v.first_position, v.positions},
                                    -static_cast<double>(io.MouseDelta.x) / geometry.cell_width(),
                                    static_cast<double>(all))
                                  .first;
        view.first_track = moved({v.first_track, v.tracks},
                                 -static_cast<double>(io.MouseDelta.y) / geometry.cell_height(),
                                 static_cast<double>(tracks))
                               .first;
    }
    if (const auto hit = geometry.hit(x, y)) {
        viewer.hovered =
            CellId{lane_index, view.sequence, track_id(lane.shape(), hit->track), hit->position};
        if (clicked()) {
            viewer.selected = viewer.hovered;
            const Cell cell = cell_at_playhead(viewer, *viewer.selected);
            if (const auto event = write_event(lane, viewer.selected->track, cell)) {
                viewer.event_lane = lane_index;
                viewer.event_focus = event;
            }
        }
        draw_cell_tooltip(viewer, lane, *viewer.hovered);
    }
}

// What the lane does at the step on show.
std::string doing(const LaneHistory& lane, std::int32_t sequence, std::int64_t step,
                  const PassUnderWay* pass) {
    if (pass != nullptr) {
        return "step " + with_commas(lane.steps()) +
               " is being computed: " + with_commas(pass->layers_done) + " of " +
               with_commas(lane.shape().layers) + " layers done";
    }
    if (lane.steps() == 0) return "no step yet";
    if (lane.longest(sequence) == 0) return "has no sequence " + std::to_string(sequence);
    return "step " + with_commas(step) + ": " + step_title(lane.step(step)) + ", writes " +
           with_commas(lane.costs(step).rows_written) + " rows, fetches " +
           with_commas(lane.costs(step).rows_fetched);
}

// What the title of a lane abbreviates.
std::string meaning_of_title(const LaneHistory& lane) {
    const Lane& is = lane.lane();
    const char* const cache =
        is.cache == "none"    ? "No cache: every step computes the rows of all tokens anew, reads "
                                "them and drops them."
        : is.cache == "paged" ? "Paged: rows lie in blocks taken from a pool; the grid shows them "
                                "in the order of the tokens, the memory panel where they lie."
                              : "Contiguous: one array per sequence, set aside for the longest "
                                "case.";
    std::string text = cache;
    if (is.block_size > 0) {
        text += " B = " + with_commas(is.block_size) + ": tokens per block.";
    }
    const std::int64_t bits = 8 * bytes_per_element(is.kv_cache_dtype);
    return text + " " + name(is.kv_cache_dtype) + ": each number of a row has " +
           std::to_string(bits) + " bits.";
}

void draw_lane(Viewer& viewer, std::size_t index, const Rect& area) {
    const LaneHistory& lane = *viewer.show.lanes()[index];
    const Palette& palette = viewer.palette();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float em = ImGui::GetFontSize();

    // The title: which lane, what it does now.
    std::string title = lane_title(viewer, index);
    if (lane.lane().block_size > 0) title += ", B = " + std::to_string(lane.lane().block_size);
    title += std::string(", ") + name(lane.lane().kv_cache_dtype);
    draw.AddText({area.x, area.y}, palette.text, title.c_str());
    const PassUnderWay* const pass = pass_on_show(viewer, index);
    draw.AddText({area.x + ImGui::CalcTextSize(title.c_str()).x + em * 1.5f, area.y},
                 palette.faint_text,
                 doing(lane, viewer.grid.sequence, viewer.step_of(lane), pass).c_str());
    hint_over({area.x, area.y, area.width, em * 1.3f}, meaning_of_title(lane));

    const std::int64_t all = longest_of_all(viewer);
    const std::int64_t tracks = track_count(lane.shape());
    if (lane.longest(viewer.grid.sequence) == 0 && pass == nullptr) return;
    // Tokens stand under every lane, positions under the last one.
    const bool tokens = tokens_fit(viewer, area.width, all);
    const bool axis = tokens || index + 1 == viewer.show.lanes().size();
    const float below = axis_height();
    const Rect labels{area.x, area.y + em * 1.3f, label_width(),
                      area.height - em * 1.6f - (axis ? below : 0)};
    const Rect cells{labels.x + labels.width, labels.y, area.width - labels.width, labels.height};
    if (cells.width < 8 || cells.height < 8) return;
    const Window positions = positions_in_view(viewer.grid, all);
    const Window lines = tracks_in_view(viewer.grid, tracks);
    const GridGeometry geometry(
        {static_cast<double>(cells.x), static_cast<double>(cells.y),
         static_cast<double>(cells.width), static_cast<double>(cells.height), positions.first,
         positions.count, lines.first, lines.count},
        all, tracks);
    viewer.grids.insert_or_assign(index, geometry);

    const Viewer::Picture& picture = viewer.picture(index, geometry);
    draw.PushClipRect({cells.x, cells.y}, {cells.x + cells.width, cells.y + cells.height}, true);
    draw_cells(picture, geometry, tracks);
    if (pass != nullptr) draw_pass_in_cells(viewer, *pass, geometry);
    draw_lines(lane, geometry, cells, palette);
    if (pass == nullptr) draw_numbers_in_cells(viewer, index, geometry);
    if (viewer.guide) {
        for (const GuideCells& framed : viewer.guide->page().cells) {
            if (framed.lane == index) outline(geometry, framed, cells, palette, 2 * viewer.scale);
        }
    }
    if (viewer.selected && viewer.selected->lane == index &&
        viewer.selected->sequence == viewer.grid.sequence) {
        outline(geometry, track_number(lane.shape(), viewer.selected->track),
                viewer.selected->position, palette.text);
    }
    draw.PopClipRect();

    draw.PushClipRect({labels.x, labels.y}, {labels.x + labels.width, labels.y + labels.height},
                      true);
    draw_track_labels(lane, geometry, labels, palette);
    draw.PopClipRect();
    hint_over(
        labels,
        "h0, h1, ...: the KV heads of a layer. Each has a line of K rows and one of V rows; a "
        "cell is one row of D = " +
            with_commas(lane.shape().head_dim) + " numbers, of one token.");
    if (axis) {
        draw_token_labels(lane, viewer, geometry,
                          {cells.x, cells.y + cells.height, cells.width, below});
    }

    ImGui::SetCursorScreenPos({cells.x, cells.y});
    ImGui::InvisibleButton(("cells" + std::to_string(index)).c_str(), {cells.width, cells.height});
    if (lane.steps() > 0 && (ImGui::IsItemHovered() || ImGui::IsItemActive())) {
        handle_mouse(viewer, index, geometry, tracks);
    }
}

}  // namespace

void draw_cache_grid(Viewer& viewer) {
    if (!viewer.pass && draw_if_empty(viewer)) return;
    draw_grid_controls(viewer);

    // All lanes under each other, with cells of equal height; what does not fit is scrolled to.
    const std::size_t count = viewer.show.lanes().size();
    ImGui::BeginChild("lanes", {0, 0}, false, ImGuiWindowFlags_NoScrollWithMouse);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float least = ImGui::GetFontSize() * 3.8f;
    const bool tokens = tokens_fit(viewer, room.x, longest_of_all(viewer));
    const float axis = tokens ? 0 : axis_height();  // of the last lane alone
    const float height = std::max((room.y - axis) / static_cast<float>(count), least);
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    for (std::size_t i = 0; i < count; ++i) {
        draw_lane(viewer, i,
                  {origin.x, origin.y + height * static_cast<float>(i), room.x,
                   height + (i + 1 == count ? axis : 0)});
    }
    ImGui::SetCursorScreenPos({origin.x, origin.y + height * static_cast<float>(count) + axis - 1});
    ImGui::Dummy({1, 1});
    ImGui::EndChild();
}

}  // namespace kvtape