// The cache itself. Each lane is a grid: lines are tracks (layer, KV head, K or V), columns are
// positions, and the tokens stand under the columns. The wheel zooms, dragging moves.
#include <imgui.h>
#include <algorithm>
#include <cmath>

#include "core/kv_dtype.h"
#include "viewer/event_search.h"
#include "viewer/grid_geometry.h"
#include "viewer/guide.h"
#include "viewer/imgui_compat.h"
#include "viewer/panel.h"
#include "viewer/selection.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// The least width of a column that carries the text of its token.
constexpr double least_token_ems = 2.2;

struct Area {
    float x, y, width, height;
};

// Columns of the longest lane: all lanes are drawn on its axis, so that equal positions stand under
// each other.
std::int64_t longest_of_all(const Viewer& viewer) {
    std::int64_t most = 0;
    for (const auto& lane : viewer.show.lanes()) {
        most = std::max(most, lane->longest(viewer.grid.sequence));
    }
    return most;
}

Window positions_in_view(const GridView& view, std::int64_t all) {
    const auto most = static_cast<double>(std::max<std::int64_t>(all, 1));
    const double count = view.positions > 0 ? std::min(view.positions, most) : most;
    return moved({view.first_position, count}, 0, most);
}

Window tracks_in_view(const GridView& view, std::int64_t all) {
    const auto most = static_cast<double>(std::max<std::int64_t>(all, 1));
    const double count = view.tracks > 0 ? std::min(view.tracks, most) : most;
    return moved({view.first_track, count}, 0, most);
}

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
            entry(palette.series[0], "sequence 0", "Each sequence has a colour of its own.");
            break;
    }
    entry(palette.written_now, "written in this step", "K and V rows that this step computed.");
    entry(palette.read_now, "being read", "Rows that attention fetches in this step.");
    entry(palette.empty, "empty", "No row is there.");
}

void draw_controls(Viewer& viewer) {
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

// "L0 h1 K" where a line is high enough; else only the layers.
void draw_track_labels(const LaneHistory& lane, const GridGeometry& geometry, const Area& labels,
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

// Under the columns: the token itself where it fits, else positions at round distances.
void draw_token_labels(const LaneHistory& lane, const Viewer& viewer, const GridGeometry& geometry,
                       const Area& labels) {
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

// Neighbouring tracks that share a line of the picture are drawn as one.
void draw_cells(const Viewer::Picture& picture, const GridGeometry& geometry, std::int64_t tracks) {
    const GridGeometry::View& view = geometry.view();
    const auto width = static_cast<double>(picture.image.width());
    const double last = std::min(view.first_position + view.positions, width);
    if (last <= view.first_position) return;
    const auto u0 = static_cast<float>(view.first_position / width);
    const auto u1 = static_cast<float>(last / width);
    const auto left = static_cast<float>(view.x);
    const auto right = static_cast<float>(geometry.left(last));
    for (std::int64_t begin = 0; begin < tracks;) {
        const std::int64_t line = picture.image.line_of(begin);
        std::int64_t end = begin + 1;
        while (end < tracks && picture.image.line_of(end) == line) ++end;
        const float v =
            (static_cast<float>(line) + 0.5f) / static_cast<float>(picture.image.lines());
        ImGui::GetWindowDrawList()->AddImage(
            imgui_texture(picture.texture),
            {left, static_cast<float>(geometry.top(static_cast<double>(begin)))},
            {right, static_cast<float>(geometry.top(static_cast<double>(end)))}, {u0, v}, {u1, v});
        begin = end;
    }
}

// Lines between layers, and between cells where they are large.
void draw_lines(const LaneHistory& lane, const GridGeometry& geometry, const Area& cells,
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
void outline(const GridGeometry& geometry, const GuideCells& framed, const Area& cells,
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
    const Area inside{cells.x + thick / 2, cells.y + thick / 2, cells.width - thick,
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
        view.positions = positions.count;
        if (!io.KeyShift) {  // with shift, only the columns
            const Window lines = zoomed({v.first_track, v.tracks}, factor, (y - v.y) / v.height,
                                        static_cast<double>(tracks));
            view.first_track = lines.first;
            view.tracks = lines.count;
        }
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
        view.positions = v.positions;
        view.tracks = v.tracks;
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
        if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
            std::abs(ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0).x) < 4) {
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

float axis_height() {
    return ImGui::GetFontSize() * 1.4f;
}

float label_width() {
    return ImGui::GetFontSize() * 6;
}

// Whether a column is wide enough for the text of its token.
bool tokens_fit(const Viewer& viewer, const Area& area, std::int64_t all) {
    const double shown = positions_in_view(viewer.grid, all).count;
    return static_cast<double>(area.width - label_width()) / shown >=
           static_cast<double>(ImGui::GetFontSize()) * least_token_ems;
}

void draw_lane(Viewer& viewer, std::size_t index, const Area& area) {
    const LaneHistory& lane = *viewer.show.lanes()[index];
    const Palette& palette = viewer.palette();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float em = ImGui::GetFontSize();

    // The title: which lane, what it does now.
    std::string title = lane_title(viewer, index);
    if (lane.lane().block_size > 0) title += ", B = " + std::to_string(lane.lane().block_size);
    title += std::string(", ") + name(lane.lane().kv_cache_dtype);
    draw.AddText({area.x, area.y}, palette.text, title.c_str());
    if (lane.steps() == 0) return;
    const std::int64_t step = viewer.step_of(lane);
    const std::string doing = "step " + with_commas(step) + ": " + step_title(lane.step(step)) +
                              ", writes " + with_commas(lane.costs(step).rows_written) +
                              " rows, fetches " + with_commas(lane.costs(step).rows_fetched);
    draw.AddText({area.x + ImGui::CalcTextSize(title.c_str()).x + em * 1.5f, area.y},
                 palette.faint_text, doing.c_str());

    const std::int64_t all = longest_of_all(viewer);
    const std::int64_t tracks = track_count(lane.shape());
    if (lane.longest(viewer.grid.sequence) == 0) return;
    // Tokens stand under every lane, positions under the last one.
    const bool tokens = tokens_fit(viewer, area, all);
    const bool axis = tokens || index + 1 == viewer.show.lanes().size();
    const float below = axis_height();
    const Area labels{area.x, area.y + em * 1.3f, label_width(),
                      area.height - em * 1.6f - (axis ? below : 0)};
    const Area cells{labels.x + labels.width, labels.y, area.width - labels.width, labels.height};
    if (cells.width < 8 || cells.height < 8) return;
    const Window positions = positions_in_view(viewer.grid, all);
    const Window lines = tracks_in_view(viewer.grid, tracks);
    const GridGeometry geometry(
        {static_cast<double>(cells.x), static_cast<double>(cells.y),
         static_cast<double>(cells.width), static_cast<double>(cells.height), positions.first,
         positions.count, lines.first, lines.count},
        all, tracks);
    viewer.grids.insert_or_assign(index, geometry);

    const Viewer::Picture& picture = viewer.picture(index);
    draw.PushClipRect({cells.x, cells.y}, {cells.x + cells.width, cells.y + cells.height}, true);
    draw_cells(picture, geometry, tracks);
    draw_lines(lane, geometry, cells, palette);
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
    if (axis) {
        draw_token_labels(lane, viewer, geometry,
                          {cells.x, cells.y + cells.height, cells.width, below});
    }

    ImGui::SetCursorScreenPos({cells.x, cells.y});
    ImGui::InvisibleButton(("cells" + std::to_string(index)).c_str(), {cells.width, cells.height});
    if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
        handle_mouse(viewer, index, geometry, tracks);
    }
}

}  // namespace

void draw_cache_grid(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    draw_controls(viewer);

    // All lanes under each other, with cells of equal height; what does not fit is scrolled to.
    const std::size_t count = viewer.show.lanes().size();
    ImGui::BeginChild("lanes", {0, 0}, false, ImGuiWindowFlags_NoScrollWithMouse);
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float least = ImGui::GetFontSize() * 3.8f;
    const bool tokens = tokens_fit(viewer, {0, 0, room.x, room.y}, longest_of_all(viewer));
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
