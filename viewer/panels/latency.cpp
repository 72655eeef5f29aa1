// How long tokens took: the first one (TTFT), each later one (ITL), and under that the positions
// that each step reads, on the same axis.
#include <imgui.h>
#include <algorithm>

#include "viewer/flow.h"
#include "viewer/latencies.h"
#include "viewer/panel.h"
#include "viewer/plot_widget.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

constexpr const char* as_recorded =
    "Times are those of the machine that made the tape, with recording on.";

std::string time_text(std::optional<double> seconds) {
    return seconds ? duration(*seconds) : "-";
}

// A number with a bar behind it, `longest` pixels long for the time `most`.
void draw_time(std::optional<double> seconds, double most, float longest, Rgba colour) {
    ImGui::TableNextColumn();
    if (seconds && most > 0) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = longest * static_cast<float>(*seconds / most);
        constexpr Rgba see_through = 0x60ffffff;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {at.x, at.y + 1}, {at.x + width, at.y + ImGui::GetTextLineHeight() - 1},
            colour & see_through, 2);
    }
    ImGui::TextUnformatted(time_text(seconds).c_str());
}

void draw_row(const Viewer& viewer, const char* label, const char* explained, float longest,
              std::optional<double> (*value)(const Latencies&)) {
    double most = 0;
    for (const Latencies& lane : viewer.latency.lanes()) {
        most = std::max(most, value(lane).value_or(0));
    }
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(label);
    hint((std::string(explained) + " " + as_recorded).c_str());
    for (std::size_t i = 0; i < viewer.latency.lanes().size(); ++i) {
        draw_time(value(viewer.latency.lanes()[i]), most, longest, lane_colour(viewer, i));
    }
}

// A column per lane, as wide as its name asks for.
void draw_table(Viewer& viewer) {
    const std::size_t lanes = viewer.show.lanes().size();
    const float em = ImGui::GetFontSize();
    std::vector<float> widths;
    float all = em * 3.5f;
    for (std::size_t i = 0; i < lanes; ++i) {
        const float name = ImGui::CalcTextSize(lane_title(viewer, i).c_str()).x + em;
        widths.push_back(std::max(name, em * 4.3f));
        all += widths.back() + 6 * viewer.scale;
    }
    const float room = ImGui::GetContentRegionAvail().x;
    const bool scrolls = all > room;
    // Bars of all lanes have one measure, so they must fit into the narrowest column.
    const float least = *std::min_element(widths.begin(), widths.end());
    const float longest = scrolls ? least : least * (1 + (room - all) / all);

    const ImGuiTableFlags flags =
        ImGuiTableFlags_NoPadOuterX | (scrolls ? ImGuiTableFlags_ScrollX : 0);
    const auto sizing =
        scrolls ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch;
    const float height = scrolls ? em * 3.4f + ImGui::GetStyle().ScrollbarSize : 0;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(3 * viewer.scale, 0));
    if (ImGui::BeginTable("latencies", static_cast<int>(lanes) + 1, flags, {0, height})) {
        ImGui::TableSetupScrollFreeze(1, 0);
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed);
        for (const float width : widths) ImGui::TableSetupColumn("", sizing, width);
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::Checkbox("log", &viewer.latency.log);
        hint("Logarithmic axes.");
        for (std::size_t i = 0; i < lanes; ++i) {
            ImGui::TableNextColumn();
            Flow(0).swatch(lane_colour(viewer, i), lane_title(viewer, i), viewer.palette().text);
        }
        draw_row(viewer, "TTFT",
                 "Time to first token: all of prefill, through the step that sampled the first new "
                 "token.",
                 longest, [](const Latencies& lane) { return lane.first_token_s; });
        draw_row(viewer, "ITL",
                 "Inter-token latency, the median: from one new token to the next. The plot has "
                 "every one of them.",
                 longest, [](const Latencies& lane) { return lane.median_s; });
        ImGui::EndTable();
    }
    ImGui::PopStyleVar();
}

void draw_hover(const Viewer& viewer, std::int64_t step) {
    ImGui::BeginTooltip();
    ImGui::Text("step %s", with_commas(step).c_str());
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const Latencies& of = viewer.latency.lanes()[i];
        if (step >= std::ssize(of.positions)) continue;
        const double between = of.between_s[static_cast<std::size_t>(step)];
        const double positions = of.positions[static_cast<std::size_t>(step)];
        std::string text = lane_title(viewer, i) + ": ";
        if (between == between) {
            text += "ITL " + time_text(between);
        } else {
            const LaneHistory& lane = *viewer.show.lanes()[i];
            text += std::string(name(lane.step(step).phase)) + ", " +
                    time_text(static_cast<double>(lane.costs(step).wall_ns) * 1e-9);
        }
        if (positions == positions) {
            text += ", " + with_commas(static_cast<std::int64_t>(positions)) + " positions";
        }
        Flow(0).swatch(lane_colour(viewer, i), text, viewer.palette().text);
    }
    ImGui::EndTooltip();
}

float plot_gap() {
    return ImGui::GetFontSize() * 0.4f;
}

void draw_plots(Viewer& viewer, float height) {
    const std::vector<Latencies>& lanes = viewer.latency.lanes();
    Extent times, positions;
    for (const Latencies& lane : lanes) {
        times.add(lane.between_s);
        positions.add(lane.positions);
    }
    // Where there is little room, the steps are left to the panels beside this one.
    const float em = ImGui::GetFontSize();
    const bool low = height < em * 7;
    const float step_ticks = low ? 0 : em * 1.25f;
    const float curves = height - plot_gap() - step_ticks;
    Plot::Frame upper{ImGui::GetContentRegionAvail().x, curves * 0.58f};
    upper.step_ticks = false;
    upper.unit = "s";
    upper.caption = low ? "" : "ITL";  // the name stands right above
    upper.log = viewer.latency.log;
    Plot::Frame lower = upper;
    lower.height = curves - upper.height + step_ticks;
    lower.step_ticks = !low;
    lower.unit = "";
    lower.caption = "positions read";
    upper.left = lower.left =
        std::max(Plot::tick_room(upper, times), Plot::tick_room(lower, positions));

    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, plot_gap()));
    std::optional<std::int64_t> hovered;
    const auto draw = [&](const char* id, const Plot::Frame& frame, const Extent& extent,
                          std::vector<double> Latencies::*values) {
        Plot plot(viewer, id, frame, extent);
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            plot.curve(lanes[i].*values, lane_colour(viewer, i));
        }
        plot.playhead();
        if (const auto step = plot.hovered()) hovered = step;
    };
    draw("itl", upper, times, &Latencies::between_s);
    draw("length", lower, positions, &Latencies::positions);
    ImGui::PopStyleVar();
    if (hovered) draw_hover(viewer, *hovered);
}

}  // namespace

void draw_latency(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    if (viewer.show.lanes().size() > 60) {
        ImGui::TextUnformatted("More lanes are open than fit into a table.");
        return;
    }
    const CompactControls compact(viewer.scale);
    viewer.latency.update(viewer.show.lanes(), viewer.grid.sequence);
    draw_table(viewer);
    const float em = ImGui::GetFontSize();
    const float room = ImGui::GetContentRegionAvail().y;
    const bool tall = room > em * 14;
    const float note = tall ? ImGui::GetTextLineHeight() + plot_gap() : 0;
    draw_plots(viewer, std::max(room - note, em * 2));
    if (tall) ImGui::TextDisabled("%s", as_recorded);
}

}  // namespace kvtape
