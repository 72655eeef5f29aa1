#include "viewer/pool_widget.h"

#include <algorithm>
#include <cmath>

#include "viewer/imgui_compat.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void outline(const PoolArea& area, const PoolMap::Box& box, Rgba colour, float width) {
    if (!area.shows(box)) return;
    const ImVec2 min = area.min_of(box), max = area.max_of(box);
    ImGui::GetWindowDrawList()->AddRect({min.x - width, min.y - width},
                                        {max.x + width, max.y + width}, colour, 0, 0, width);
}

PoolMap map_of(const Storage& storage, float width, float height, float scale) {
    const auto w = static_cast<double>(width), h = static_cast<double>(height);
    const auto s = static_cast<double>(scale);
    return storage.paged ? map_of_blocks(storage.units_in_all, storage.slots_of_unit, w, h, s)
                         : map_of_cells(storage.held() * storage.slots_of_unit, w, h, s);
}

// In a window of this size, scrolled as it is now.
PoolArea placed(const Storage& storage, float width, float height, float scale) {
    PoolMap map = map_of(storage, width, height, scale);
    if (map.height() > static_cast<double>(height)) {  // there will be a scroll bar
        width = std::max(width - ImGui::GetStyle().ScrollbarSize, 1.0f);
        map = map_of(storage, width, height, scale);
    }
    const ImVec2 window = ImGui::GetWindowPos();
    const double above = scrolled_to(static_cast<double>(ImGui::GetScrollY()), map.height(),
                                     static_cast<double>(height));
    return {map,
            {window.x, window.y - static_cast<float>(above)},
            window,
            {window.x + width, window.y + height}};
}

// The lines in view, as a texture.
void draw_picture(Viewer& viewer, const PoolArea& area, bool changed) {
    MemoryView& memory = viewer.memory;
    const PoolMap& map = area.map;
    const double line_height = map.unit_height();
    const auto above = static_cast<double>(area.clip_min.y - area.at.y);
    const auto below = static_cast<double>(area.clip_max.y - area.at.y);
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(above / line_height), 0);
    const std::int64_t end =
        std::min(static_cast<std::int64_t>(std::ceil(below / line_height)), map.lines);
    if (end <= first) return;
    if (changed || map != memory.map || first != memory.first_line || end - first != memory.lines) {
        memory.map = map;
        memory.first_line = first;
        memory.lines = end - first;
        memory.picture.paint(map, first, end - first, viewer.palette(), memory.pixels);
        if (memory.texture == 0) memory.texture = viewer.textures().create();
        viewer.textures().upload(memory.texture, map.across * map.unit_texels_x(),
                                 (end - first) * map.unit_texels_y(), memory.pixels);
    }
    const float top = area.at.y + static_cast<float>(static_cast<double>(first) * line_height);
    const float bottom = area.at.y + static_cast<float>(static_cast<double>(end) * line_height);
    const float right =
        area.at.x + static_cast<float>(map.unit_width() * static_cast<double>(map.across));
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    add_texels(draw, memory.texture, {area.at.x, top}, {right, bottom}, {0, 0}, {1, 1});

    // Slots that are large enough are told apart.
    const auto texel = static_cast<float>(map.texel);
    if (texel < 5 * viewer.scale) return;
    for (float x = area.at.x; x < right; x += texel) {
        draw.AddLine({x, top}, {x, bottom}, viewer.palette().panel);
    }
    for (float y = top; y < bottom; y += texel) {
        draw.AddLine({area.at.x, y}, {right, y}, viewer.palette().panel);
    }
}

// In the gaps under the boxes, where they are high enough: the numbers of the blocks.
void draw_numbers(const Viewer& viewer, const PoolArea& area) {
    const PoolMap& map = area.map;
    if (!map.boxes || map.texel < static_cast<double>(ImGui::GetFontSize())) return;
    for (std::int64_t block = 0; block < map.units; ++block) {
        const PoolMap::Box box = map.box(block);
        const std::string number = with_commas(block);
        const float width = ImGui::CalcTextSize(number.c_str()).x;
        if (!area.shows(box) || width > static_cast<float>(map.unit_width())) continue;
        const float x = (area.min_of(box).x + area.max_of(box).x - width) / 2;
        ImGui::GetWindowDrawList()->AddText({x, area.max_of(box).y}, viewer.palette().faint_text,
                                            number.c_str());
    }
}

void draw_outlines(const Viewer& viewer, std::size_t lane, const PoolArea& area) {
    const Storage& storage = viewer.memory.picture.storage();
    const PoolMap& map = area.map;
    for (const Unit& unit : storage.units) {
        if (unit.holders < 2 || !map.boxes) continue;
        outline(area, map.box(unit.number), viewer.palette().accent, viewer.scale);
    }
    const LaneHistory& history = *viewer.show.lanes()[lane];
    for (const auto* const id : {&viewer.selected, &viewer.hovered}) {
        if (!*id || (*id)->lane != lane) continue;
        const auto& [number, sequence, track, position] = **id;
        const Cell cell = history.playback().cell(viewer.step_of(history), sequence, track.layer,
                                                  track.kv_head, track.kind, position);
        if (!cell.filled) continue;
        if (storage.paged) {
            outline(
                area,
                map.slot_box(cell.slot / storage.slots_of_unit, cell.slot % storage.slots_of_unit),
                viewer.palette().text, viewer.scale);
            continue;
        }
        for (const Unit& unit : storage.units) {
            if (unit.sequence != sequence) continue;
            outline(area, map.box(unit.number * storage.slots_of_unit + position),
                    viewer.palette().text, viewer.scale);
        }
    }
}

std::string holder_names(const std::vector<std::int32_t>& holders) {
    constexpr std::size_t most = 8;
    std::string names = holders.size() == 1 ? "sequence " : "sequences ";
    for (std::size_t i = 0; i < std::min(holders.size(), most); ++i) {
        names += (i == 0 ? "" : ", ") + std::to_string(holders[i]);
    }
    return holders.size() > most ? names + ", ..." : names;
}

// `slot` is -1 where only blocks can be told apart.
void draw_tooltip(const Viewer& viewer, const LaneHistory& lane, std::int64_t block,
                  const Unit* unit, std::int64_t slot, const std::optional<CellId>& cell) {
    const Storage& storage = viewer.memory.picture.storage();
    const std::int64_t size = storage.slots_of_unit;
    ImGui::BeginTooltip();
    if (storage.paged && unit == nullptr) {
        ImGui::Text("block %s: free", with_commas(block).c_str());
    } else if (storage.paged) {
        const std::span<const Rgba> slots = viewer.memory.picture.slots(*unit);
        const auto empty = std::count(slots.begin(), slots.end(), viewer.palette().empty);
        ImGui::Text("block %s: %s of %s slots filled", with_commas(block).c_str(),
                    with_commas(std::ssize(slots) - empty).c_str(), with_commas(size).c_str());
        ImGui::Text("held by %s as logical block %s, positions %s to %s",
                    holder_names(lane.playback().holders(viewer.step_of(lane), block)).c_str(),
                    with_commas(unit->index).c_str(), with_commas(unit->index * size).c_str(),
                    with_commas((unit->index + 1) * size - 1).c_str());
    }
    if (cell) {
        ImGui::Text("slot %s: position %s, token '%s'", with_commas(slot).c_str(),
                    with_commas(cell->position).c_str(),
                    lane.text(cell->sequence, cell->position).c_str());
    } else if (unit != nullptr && slot >= 0) {
        ImGui::Text("slot %s: set aside, without a row", with_commas(slot).c_str());
    }
    ImGui::EndTooltip();
}

void handle_mouse(Viewer& viewer, std::size_t index, const PoolArea& area) {
    const LaneHistory& lane = *viewer.show.lanes()[index];
    const PoolPicture& picture = viewer.memory.picture;
    const std::int64_t size = picture.storage().slots_of_unit;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto hit = area.map.hit(static_cast<double>(mouse.x - area.at.x),
                                  static_cast<double>(mouse.y - area.at.y));
    if (!hit) return;
    const bool paged = picture.storage().paged;
    const std::int64_t number = paged ? hit->unit : hit->unit / size;
    const std::int64_t slot = paged ? hit->slot : hit->unit % size;
    const Unit* const unit = picture.storage().unit(number);
    std::optional<CellId> cell;
    if (unit != nullptr && slot >= 0) {
        const std::span<const Rgba> slots = picture.slots(*unit);
        const bool filled = slot < std::ssize(slots) &&
                            slots[static_cast<std::size_t>(slot)] != viewer.palette().empty;
        if (filled) {
            cell = CellId{index, unit->sequence, track_on_show(viewer, index),
                          unit->index * size + slot};
        }
    }
    outline(area, area.map.box(hit->unit), viewer.palette().text, viewer.scale);
    draw_tooltip(viewer, lane, number, unit, slot, cell);
    if (!cell) return;
    viewer.hovered = cell;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        viewer.selected = cell;
        viewer.grid.sequence = cell->sequence;
    }
}

}  // namespace

TrackId track_on_show(const Viewer& viewer, std::size_t lane) {
    return viewer.selected && viewer.selected->lane == lane ? viewer.selected->track : TrackId{};
}

void draw_pool(Viewer& viewer, std::size_t lane, ImVec2 size, bool changed) {
    const Storage& storage = viewer.memory.picture.storage();
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float em = ImGui::GetFontSize();
    const float strip = storage.paged ? em * 1.1f : 0;
    const float arrows = storage.paged ? std::clamp(size.y * 0.2f, em, em * 5) : 0;
    const float height = size.y - strip - arrows;
    if (height < em || size.x < em || storage.units_in_all == 0) return;

    ImGui::SetCursorScreenPos({corner.x, corner.y + strip + arrows});
    ImGui::BeginChild("pool", {size.x, height}, false, 0);
    const PoolArea area = placed(storage, size.x, height, viewer.scale);
    draw_picture(viewer, area, changed);
    draw_numbers(viewer, area);
    draw_outlines(viewer, lane, area);
    if (storage.paged) {
        // The arrows begin above the child window and end in it, so they are drawn in it,
        // unclipped.
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.PushClipRect(corner, {corner.x + size.x, corner.y + size.y});
        draw_block_table(viewer, lane, corner, size.x, strip, area);
        draw.PopClipRect();
    }
    if (ImGui::IsWindowHovered()) handle_mouse(viewer, lane, area);
    const double length = scroll_length(area.map.height(), static_cast<double>(height));
    ImGui::SetCursorPos({0, static_cast<float>(length) - 1});
    ImGui::Dummy({1, 1});
    ImGui::EndChild();
}

}  // namespace kvtape
