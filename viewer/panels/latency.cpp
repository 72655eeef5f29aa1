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

std::string time_text(std::optional<double> ns) {
    return ns ? duration(*ns * 1e-9) : "-";
}

// A number with a bar behind it, `share` of the column wide.
void draw_time(std::optional<double> ns, double most, Rgba colour) {
    ImGui::TableNextColumn();
    if (ns && most > 0) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x * static_cast<float>(*ns / most);
        constexpr Rgba see_through = 0x60ffffff;
        ImGui::GetWindowDrawList()->AddRectFilled(
            {at.x - 2, at.y + 1}, {at.x - 2 + width, at.y + ImGui::GetTextLineHeight() - 1},
            colour & see_through, 2);
    }
    ImGui::TextUnformatted(time_text(ns).c_str());
}

void draw_row(const Viewer& viewer, const char* label, const char* explained,
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
        draw_time(value(viewer.latency.lanes()[i]), most, lane_colour(viewer, i));
    }
}

// A column per lane, all of one width, so that bars can be compared.
void draw_table(Viewer& viewer) {
    const std::size_t lanes = viewer.show.lanes().size();
    const float em = ImGui::GetFontSize();
    const bool scrolls = static_cast<float>(lanes) * em * 5 > ImGui::GetContentRegionAvail().x;
    ImGuiTableFlags flags = ImGuiTableFlags_NoPadOuterX;
    flags |= scrolls ? ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit
                     : ImGuiTableFlags_SizingStretchSame;
    const float height = scrolls ? em * 4 + ImGui::GetStyle().ScrollbarSize : 0;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(3 * viewer.scale, 0));
    if (ImGui::BeginTable("latencies", static_cast<int>(lanes) + 1, flags, {0, height})) {
        ImGui::TableSetupScrollFreeze(1, 0);
        ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed);
        for (std::size_t i = 0; i < lanes; ++i) {
            ImGui::TableSetupColumn(
                "", scrolls ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
                scrolls ? em * 5 : 1);
        }
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::Checkbox("log", &viewer.latency.log);
        hint("Logarithmic axes.");
        for (std::size_t i = 0; i < lanes; ++i) {
            ImGui::TableNextColumn();
            Flow(0).swatch(lane_colour(viewer, i), lane_title(viewer, i), viewer.palette().text,
                           lane_title(viewer, i));
        }
        draw_row(viewer, "TTFT",
                 "Time to first token: all of prefill, through the step that sampled the first new "
                 "token.",
                 [](const Latencies& lane) -> std::optional<double> {
                     if (!lane.first_token_ns) return std::nullopt;
                     return static_cast<double>(*lane.first_token_ns);
                 });
        draw_row(viewer, "ITL",
                 "Inter-token latency, the median: from one new token to the next. The plot has "
                 "every one of them.",
                 [](const Latencies& lane) { return lane.median_ns; });
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
        const double ns = of.between_ns[static_cast<std::size_t>(step)];
        const double positions = of.positions[static_cast<std::size_t>(step)];
        std::string text = lane_title(viewer, i) + ": ";
        if (ns == ns) {
            text += "ITL " + time_text(ns);
        } else {
            const LaneHistory& lane = *viewer.show.lanes()[i];
            text += std::string(name(lane.step(step).phase)) + ", " +
                    time_text(static_cast<double>(lane.costs(step).wall_ns));
        }
        if (positions == positions) {
            text += ", " + with_commas(static_cast<std::int64_t>(positions)) + " positions";
        }
        Flow(0).swatch(lane_colour(viewer, i), text, viewer.palette().text);
    }
    ImGui::EndTooltip();
}

void draw_plots(Viewer& viewer, float height) {
    const std::vector<Latencies>& lanes = viewer.latency.lanes();
    std::vector<std::vector<double>> seconds;
    Extent times, positions;
    for (const Latencies& lane : lanes) {
        seconds.emplace_back(lane.between_ns);
        for (double& value : seconds.back()) value *= 1e-9;
        times.add(seconds.back());
        positions.add(lane.positions);
    }
    const float gap = ImGui::GetFontSize() * 0.5f;
    Plot::Frame upper{ImGui::GetContentRegionAvail().x, (height - gap) * 0.56f, 0};
    upper.step_ticks = false;
    upper.unit = "s";
    const bool low = upper.height < ImGui::GetFontSize() * 4;
    upper.caption = low ? "" : "ITL";  // the name stands above, and a curve would cross it
    upper.log = viewer.latency.log;
    Plot::Frame lower = upper;
    lower.height = height - gap - upper.height;
    lower.step_ticks = true;
    lower.unit = "";
    lower.caption = "positions read";
    lower.caption_low = true;  // below curves that rise
    upper.left = lower.left =
        std::max(Plot::tick_room(upper, times), Plot::tick_room(lower, positions));

    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, gap));
    std::optional<std::int64_t> hovered;
    const auto draw = [&](const char* id, const Plot::Frame& frame, const Extent& extent,
                          const auto& values) {
        Plot plot(viewer, id, frame, extent);
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            plot.curve(values(i), lane_colour(viewer, i));
        }
        plot.playhead();
        if (const auto step = plot.hovered()) hovered = step;
    };
    draw("itl", upper, times, [&](std::size_t i) { return std::span<const double>(seconds[i]); });
    draw("length", lower, positions,
         [&](std::size_t i) { return std::span<const double>(lanes[i].positions); });
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
    const float note = tall ? ImGui::GetTextLineHeightWithSpacing() : 0;
    draw_plots(viewer, std::max(room - note, em * 2));
    if (tall) ImGui::TextDisabled("%s", as_recorded);
}

}  // namespace kvtape
