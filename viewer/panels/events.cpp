// Every event of a lane, a line each. A tape may have millions: the list counts rows in 64 bits
// (viewer/event_scroll.h), and a frame asks only for the rows that it draws.
#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "viewer/event_columns.h"
#include "viewer/event_search.h"
#include "viewer/imgui_compat.h"
#include "viewer/panel.h"
#include "viewer/selection.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void draw_row_tooltip(const LaneHistory& lane, std::int64_t number, const Event& event,
                      const EventText& text) {
    ImGui::BeginTooltip();
    ImGui::Text("event %s: %s in step %s (%s)", with_commas(number).c_str(), text.what,
                with_commas(event.step).c_str(), step_title(lane.step(event.step)).c_str());
    if (const auto row = first_row(lane, event)) {
        ImGui::Text("layer %d, KV head %d, %s of sequence %d", row->track.layer, row->track.kv_head,
                    row->track.kind == Kind::key ? "K" : "V", row->sequence);
        ImGui::Text("positions %s: %s rows %s", text.positions.c_str(), text.rows.c_str(),
                    event.kind == Event::Kind::write ? "written" : "fetched");
    }
    ImGui::TextUnformatted(text.more.c_str());
    ImGui::EndTooltip();
}

// The playhead goes to the step of the event, and the grid to the first row of it.
void go_to_event(Viewer& viewer, std::int64_t number) {
    const LaneHistory& lane = *viewer.show.lanes()[viewer.event_lane];
    const Event event = lane.event(number);
    jump(viewer.playhead, event.step, viewer.steps());
    viewer.events.followed_step = viewer.step_of(lane);  // the list itself stays where it is
    viewer.events.marked = number;
    if (const auto row = first_row(lane, event)) {
        select_cell(viewer, {viewer.event_lane, row->sequence, row->track, row->position});
    }
}

void draw_controls(Viewer& viewer) {
    EventListView& view = viewer.events;
    const auto& lanes = viewer.show.lanes();
    const float em = ImGui::GetFontSize();
    if (lanes.size() > 1) {
        // What the others leave.
        ImGui::SetNextItemWidth(std::max(em * 7, ImGui::GetContentRegionAvail().x - em * 11));
        if (ImGui::BeginCombo("##lane", lane_title(viewer, viewer.event_lane).c_str())) {
            for (std::size_t i = 0; i < lanes.size(); ++i) {
                const std::string label = lane_title(viewer, i) + "##" + std::to_string(i);
                if (ImGui::Selectable(label.c_str(), i == viewer.event_lane)) viewer.event_lane = i;
            }
            ImGui::EndCombo();
        }
        hint("The lane whose events are listed");
        ImGui::SameLine();
    }
    ImGui::SetNextItemWidth(em * 4.6f);
    if (ImGui::InputTextWithHint("##go", "event", view.go_to.data(), view.go_to.size(),
                                 ImGuiInputTextFlags_EnterReturnsTrue)) {
        if (const auto row = parse_row(view.go_to.data())) {
            const std::int64_t last = lanes[viewer.event_lane]->events() - 1;
            view.marked = std::min(*row, last);
            view.scroll.reveal(*view.marked);
            view.follow = false;
        }
    }
    hint("Type the number of an event and press enter: the list goes there");
    ImGui::SameLine();
    if (ImGui::Checkbox("follow", &view.follow) && view.follow) view.followed_step = -1;
    hint("Keep the events of the step on show at the top; scrolling switches this off");
}

// A step whose events are not on top yet, and an event that somebody asked for.
void scroll_by_itself(Viewer& viewer, const LaneHistory& lane) {
    EventListView& view = viewer.events;
    const std::int64_t step = viewer.step_of(lane);
    if (view.follow && step != view.followed_step) {
        view.scroll.put_on_top(lane.first_event(step));
        view.followed_step = step;
    }
    if (viewer.event_focus) {
        view.marked = std::clamp<std::int64_t>(*viewer.event_focus, 0, lane.events() - 1);
        view.scroll.reveal(*view.marked);
        view.followed_step = step;
        viewer.event_focus.reset();
    }
}

void scroll_with_keys(EventScroll& scroll, std::int64_t rows) {
    if (key_pressed(ImGuiKey_UpArrow)) scroll.move(-1);
    if (key_pressed(ImGuiKey_DownArrow)) scroll.move(1);
    if (key_pressed(ImGuiKey_PageUp)) scroll.move_pages(-1);
    if (key_pressed(ImGuiKey_PageDown)) scroll.move_pages(1);
    if (key_pressed(ImGuiKey_Home, false)) scroll.put_on_top(0);
    if (key_pressed(ImGuiKey_End, false)) scroll.put_on_top(rows);
}

void draw_scroll_bar(Viewer& viewer, ImVec2 at, float width, float height) {
    EventListView& view = viewer.events;
    const Palette& palette = viewer.palette();
    if (view.scroll.fits() || height < 1) return;
    const auto tall = static_cast<double>(height);
    const double shortest = std::min(static_cast<double>(ImGui::GetFontSize()) / tall, 1.0);
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton("##bar", {width, height});
    const double mouse = static_cast<double>(ImGui::GetIO().MousePos.y - at.y) / tall;
    const double begin = view.scroll.grip_begin(shortest);
    const double length = view.scroll.grip_length(shortest);
    if (ImGui::IsItemActivated()) {  // beside the grip: its middle comes to the mouse
        const bool on_grip = mouse >= begin && mouse < begin + length;
        view.grab = on_grip ? mouse - begin : length / 2;
    }
    if (ImGui::IsItemActive()) {
        view.scroll.drag_grip(mouse - view.grab, shortest);
        view.follow = false;
    }
    const bool bright = ImGui::IsItemHovered() || ImGui::IsItemActive();
    const float top = at.y + height * static_cast<float>(view.scroll.grip_begin(shortest));
    ImGui::GetWindowDrawList()->AddRectFilled(
        {at.x, top}, {at.x + width, top + height * static_cast<float>(length)},
        bright ? palette.faint_text : palette.line, width / 2);
}

void draw_titles(const std::vector<EventColumn>& columns, const Palette& palette, float width,
                 float row_height) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float drop = (row_height - ImGui::GetFontSize()) / 2;
    draw.AddRectFilled(at, {at.x + width, at.y + row_height}, palette.frame, 2);
    for (const EventColumn& column : columns) {
        draw.AddText({at.x + column.x, at.y + drop}, palette.text, column.title);
        ImGui::SetCursorScreenPos({at.x + column.x, at.y});
        ImGui::Dummy({column.width, row_height});
        hint(column.meaning);
    }
    ImGui::SetCursorScreenPos({at.x, at.y + row_height});
}

void draw_row(Viewer& viewer, const LaneHistory& lane, const std::vector<EventColumn>& columns,
              std::int64_t number, ImVec2 at, ImVec2 size, bool hovered) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Palette& palette = viewer.palette();
    const Event event = lane.event(number);
    const EventText text = event_text(lane, event);
    const ImVec2 end = {at.x + size.x, at.y + size.y};
    const bool now = event.step == viewer.step_of(lane);
    if (now) draw.AddRectFilled(at, end, mix(palette.panel, palette.accent, 0.14));
    if (hovered) draw.AddRectFilled(at, end, mix(palette.panel, palette.accent, 0.3));
    if (number == viewer.events.marked) draw.AddRect(at, end, palette.text, 2);
    const auto& chosen = viewer.selected;
    if (chosen && chosen->lane == viewer.event_lane &&
        touches(lane, event, chosen->sequence, chosen->track, chosen->position)) {
        draw.AddRectFilled(at, {at.x + ImGui::GetFontSize() * 0.2f, end.y}, palette.text);
    }
    const float drop = (size.y - ImGui::GetFontSize()) / 2;
    for (const EventColumn& column : columns) {
        // What happened to a block needs all the columns that say nothing of it.
        const bool whole =
            event.kind == Event::Kind::pool && column.what == EventColumn::What::track;
        const std::string words = whole ? text.more : column_text(column.what, number, event, text);
        const float right = whole ? end.x : at.x + column.x + column.width + 1;
        draw.PushClipRect({at.x + column.x, at.y}, {std::min(right, end.x), end.y}, true);
        draw.AddText({at.x + column.x, at.y + drop}, now ? palette.text : palette.faint_text,
                     words.c_str());
        draw.PopClipRect();
        if (whole) break;
    }
    if (hovered) draw_row_tooltip(lane, number, event, text);
}

void draw_list(Viewer& viewer, const LaneHistory& lane) {
    EventListView& view = viewer.events;
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float row_height = std::floor(ImGui::GetFontSize() * 1.3f);
    const float bar = std::floor(ImGui::GetFontSize() * 0.6f);
    const float width = room.x - bar - 2;
    const float height = room.y - row_height;
    if (width < 8 || height < row_height) return;
    view.scroll.fit(lane.events(), static_cast<std::int64_t>(height / row_height));
    scroll_by_itself(viewer, lane);

    const std::vector<EventColumn> columns = fitting_columns(lane, width);
    draw_titles(columns, viewer.palette(), width, row_height);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    draw_scroll_bar(viewer, {at.x + room.x - bar, at.y}, bar, height);
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton("##rows", {width, height});
    const bool over = ImGui::IsItemHovered();
    view.has_keys = over;
    if (over) {
        const std::int64_t before = view.scroll.first();
        view.scroll.turn_wheel(static_cast<double>(-3 * ImGui::GetIO().MouseWheel));
        if (!ImGui::GetIO().WantTextInput) scroll_with_keys(view.scroll, lane.events());
        if (view.scroll.first() != before) view.follow = false;
    }

    const float mouse = ImGui::GetIO().MousePos.y;
    for (std::int64_t number = view.scroll.first(); number < view.scroll.end(); ++number) {
        const float y = at.y + row_height * static_cast<float>(number - view.scroll.first());
        const bool hovered = over && mouse >= y && mouse < y + row_height;
        draw_row(viewer, lane, columns, number, {at.x, y}, {width, row_height}, hovered);
        if (hovered && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) go_to_event(viewer, number);
    }
}

}  // namespace

void draw_events(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const auto& lanes = viewer.show.lanes();
    if (viewer.event_lane >= lanes.size()) viewer.event_lane = 0;
    draw_controls(viewer);
    if (viewer.events.lane != viewer.event_lane) {
        viewer.events.lane = viewer.event_lane;
        viewer.events.marked.reset();
        viewer.events.followed_step = -1;
    }
    const LaneHistory& lane = *lanes[viewer.event_lane];
    if (lane.events() == 0) {
        ImGui::TextDisabled("This lane has no events yet.");
        return;
    }
    // The wheel turns the list, not the panel.
    ImGui::BeginChild("list", {0, 0}, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    draw_list(viewer, lane);
    ImGui::EndChild();
}

}  // namespace kvtape
