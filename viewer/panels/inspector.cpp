// All that the tape tells of one cell: of the one that was clicked, else of the one under the
// mouse.
#include <imgui.h>
#include <algorithm>
#include <cmath>

#include "core/kv_dtype.h"
#include "viewer/event_search.h"
#include "viewer/panel.h"
#include "viewer/row_values.h"
#include "viewer/selection.h"
#include "viewer/values_widget.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// Begins a line of the table: its label stands, what is drawn next is the value.
void label(const char* text) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
    term(text);
    ImGui::PopStyleColor();
    ImGui::TableNextColumn();
}

void value(const std::string& text) {
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
}

void line(const char* name, const std::string& text) {
    label(name);
    value(text);
}

std::string times(std::int64_t count) {
    return count == 1 ? "once" : with_commas(count) + " times";
}

std::string heads_text(std::int64_t begin, std::int64_t end) {
    if (end - begin == 1) return std::to_string(begin);
    return std::to_string(begin) + (end - begin == 2 ? " and " : " to ") + std::to_string(end - 1);
}

// "step 17 (decode)", to be pressed.
void step_button(Viewer& viewer, const LaneHistory& lane, std::int64_t step) {
    const std::string text = "step " + with_commas(step) + " (" + name(lane.step(step).phase) + ")";
    if (ImGui::SmallButton(text.c_str())) jump(viewer.playhead, step, viewer.steps());
    hint("Go to that step");
}

void draw_track(const LaneHistory& lane, const TrackId& track) {
    const std::int64_t group = lane.shape().group_size();
    line("track",
         "layer " + std::to_string(track.layer) + ", KV head " + std::to_string(track.kv_head));
    line("query heads", heads_text(track.kv_head * group, (track.kv_head + 1) * group) +
                            (group == 1 ? " has it alone" : " share it"));
}

void draw_place(const LaneHistory& lane, const CellId& id, const Cell& cell) {
    line("sequence", std::to_string(id.sequence));
    if (!cell.filled) return;
    line("slot", with_commas(cell.slot));
    const std::int64_t block_size = lane.lane().block_size;
    if (block_size > 0) {
        line("block", with_commas(cell.slot / block_size) + ", row " +
                          std::to_string(cell.slot % block_size) + " of 0 to " +
                          std::to_string(block_size - 1));
    }
}

void draw_size(const LaneHistory& lane) {
    const KvDtype dtype = lane.lane().kv_cache_dtype;
    const std::int64_t numbers = lane.shape().head_dim;
    label("holds");
    value(with_commas(numbers) + " numbers of " + name(dtype) + ", " +
          short_bytes(numbers * bytes_per_element(dtype)));
    if (lane.has_row_values()) return;
    ImGui::SameLine();
    ImGui::TextDisabled("(?)");
    hint("The numbers themselves are not on this tape; record it with --tape-values to see them.");
}

std::string range_text(const ValueRange& range) {
    std::string text = "no finite values";
    if (range.finite > 0) {
        text = decimal(static_cast<double>(range.low), 3) + " to " +
               decimal(static_cast<double>(range.high), 3);
    }
    if (range.nan > 0) text += ", " + with_commas(range.nan) + " NaN";
    if (range.infinite > 0) text += ", " + with_commas(range.infinite) + " infinite";
    return text;
}

// The D numbers themselves, under the table.
void draw_numbers(const Viewer& viewer, std::span<const float> values) {
    if (values.empty()) return;
    const std::string title = "its numbers: " + range_text(value_range(values));
    ImGui::TextUnformatted(title.c_str());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = std::max(ImGui::GetContentRegionAvail().y, ImGui::GetFontSize() * 4);
    const auto under_mouse = draw_values({at.x, at.y, width, height}, values, viewer.palette());
    ImGui::Dummy({width, height});
    if (under_mouse && ImGui::IsItemHovered()) {
        ImGui::SetTooltip("number %ld of %ld: %.9g", static_cast<long>(*under_mouse),
                          static_cast<long>(values.size()),
                          static_cast<double>(values[static_cast<std::size_t>(*under_mouse)]));
    }
}

// How storing the rows of the layer went, in the step that wrote the cell.
void draw_loss(const LaneHistory& lane, const CellId& id, const Cell& cell) {
    for (const StoreLoss& loss : lane.step(cell.written_step).losses) {
        if (loss.layer != id.track.layer) continue;
        std::string text =
            std::isfinite(loss.worst_relative_error)
                ? "at most " + decimal(100 * static_cast<double>(loss.worst_relative_error), 2) +
                      " % off"
                : "not finite";
        if (loss.saturated > 0) text += ", " + with_commas(loss.saturated) + " saturated";
        if (loss.non_finite > 0) text += ", " + with_commas(loss.non_finite) + " not finite";
        line("storage error", text);
    }
}

// Which query heads read the row in the step on show.
std::string readers_now(const LaneHistory& lane, std::int64_t step, const CellId& id,
                        const Cell& cell) {
    if (cell.read_now == 0) return "not read";
    std::int64_t heads = 0;
    const Step& of = lane.step(step);
    for (std::size_t i = 0; i < of.reads.size(); ++i) {
        const Event event{step, Event::Kind::read, static_cast<std::int64_t>(i)};
        if (!touches(lane, event, id.sequence, id.track, id.position)) continue;
        heads += of.reads[i].head_end - of.reads[i].head_begin;
    }
    heads = std::min(heads, lane.shape().group_size());
    return "read " + times(cell.read_now) + " by " + std::to_string(heads) + " head" +
           (heads == 1 ? "" : "s");
}

void draw_accesses(Viewer& viewer, const LaneHistory& lane, const CellId& id, const Cell& cell) {
    label("written in");
    step_button(viewer, lane, cell.written_step);
    if (cell.written_now) {
        ImGui::SameLine();
        ImGui::TextUnformatted("now");
    }
    line("times read", with_commas(cell.times_read));
    line("this step", readers_now(lane, viewer.step_of(lane), id, cell));
    line("times fetched", with_commas(cell.times_fetched));
}

void draw_events_of(Viewer& viewer, const LaneHistory& lane, const CellId& id, const Cell& cell) {
    label("event list");
    const auto event_button = [&](const char* text, const std::optional<std::int64_t>& number) {
        if (ImGui::SmallButton(text) && number) focus_event(viewer, id.lane, *number);
        hint("Show the event in the list");
    };
    event_button("its write", write_event(lane, id.track, cell));
    if (cell.read_now > 0) {
        ImGui::SameLine();
        event_button("read now",
                     read_event(lane, viewer.step_of(lane), id.sequence, id.track, id.position));
    }
}

// When the token of an empty cell will be computed.
void draw_future(Viewer& viewer, const LaneHistory& lane, const CellId& id) {
    label("state");
    value("empty at this step");
    for (std::int64_t step = viewer.step_of(lane) + 1; step < lane.steps(); ++step) {
        const SpanRecord* span = lane.span(step, id.sequence);
        if (span == nullptr || id.position < span->first_position ||
            id.position >= span->first_position + std::ssize(span->tokens)) {
            continue;
        }
        label("filled in");
        return step_button(viewer, lane, step);
    }
}

}  // namespace

void draw_inspector(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const auto chosen = viewer.selected ? viewer.selected : viewer.hovered;
    if (!chosen || !exists(viewer, *chosen)) {
        ImGui::PushTextWrapPos(0);
        ImGui::TextDisabled(
            "Point at a cell of the grid to see what is known of it; click to "
            "keep it here.");
        ImGui::PopTextWrapPos();
        return;
    }
    const LaneHistory& lane = *viewer.show.lanes()[chosen->lane];
    const Cell cell = cell_at_playhead(viewer, *chosen);

    ImGui::Text("%s of %s", chosen->track.kind == Kind::key ? "Key" : "Value",
                ("'" + lane.text(chosen->sequence, chosen->position) + "', position " +
                 with_commas(chosen->position))
                    .c_str());
    if (viewer.selected) {
        const float width = ImGui::CalcTextSize("let go").x + ImGui::GetStyle().FramePadding.x * 2;
        same_line_at_right(width);
        if (ImGui::SmallButton("let go")) viewer.selected.reset();
        hint("Show the cell under the mouse again (escape)");
    }
    if (!ImGui::BeginTable("facts", 2, ImGuiTableFlags_RowBg)) return;
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
    draw_track(lane, chosen->track);
    if (cell.filled) {
        draw_accesses(viewer, lane, *chosen, cell);
        draw_loss(lane, *chosen, cell);
    } else {
        draw_future(viewer, lane, *chosen);
    }
    line("lane", lane_title(viewer, chosen->lane));
    draw_place(lane, *chosen, cell);
    draw_size(lane);
    if (cell.filled) draw_events_of(viewer, lane, *chosen, cell);
    ImGui::EndTable();
    draw_numbers(viewer, row_values(lane, chosen->track, cell));
}

}  // namespace kvtape
