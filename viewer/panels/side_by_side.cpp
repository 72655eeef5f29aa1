#include <imgui.h>

#include "viewer/panel.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

void number(const std::string& now, const std::string& so_far, bool strong) {
    ImGui::TableNextColumn();
    if (strong) {
        ImGui::TextUnformatted(now.c_str());
    } else {
        ImGui::TextDisabled("%s", now.c_str());
    }
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(so_far.c_str());
}

}  // namespace

// A row per quantity, two columns per lane: in this step, and so far.
void draw_side_by_side(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const auto& lanes = viewer.show.lanes();
    const int columns = 1 + 2 * static_cast<int>(lanes.size());
    if (columns > 60) {
        ImGui::TextUnformatted("More lanes are open than fit into a table.");
        return;
    }
    constexpr ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_RowBg |
                                      ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_ScrollY;
    // Narrow, so that all lines are seen in a window of 1280 x 720.
    const ImVec2 padding = ImGui::GetStyle().CellPadding;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding.x, padding.y / 2});
    if (!ImGui::BeginTable("side", columns, flags)) return ImGui::PopStyleVar();
    ImGui::TableSetupScrollFreeze(1, 1);
    ImGui::TableSetupColumn("");
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        ImGui::TableSetupColumn((lane_title(viewer, i) + ": step").c_str());
        ImGui::TableSetupColumn("so far");
    }
    ImGui::TableHeadersRow();

    const auto row = [&](const char* label, const auto& value, const auto& text) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        term(label);
        for (const auto& lane : lanes) {
            if (lane->steps() == 0) {
                number("-", "-", false);
                continue;
            }
            const std::int64_t step = viewer.step_of(*lane);
            number(text(value(lane->costs(step))), text(value(lane->costs_so_far(step))), true);
        }
    };
    const auto commas = [](std::int64_t value) { return with_commas(value); };
    row(
        "rows written", [](const Costs& c) { return c.rows_written; }, commas);
    row(
        "rows read", [](const Costs& c) { return c.rows_read; }, commas);
    row(
        "rows fetched", [](const Costs& c) { return c.rows_fetched; }, commas);
    row(
        "FLOPs", [](const Costs& c) { return c.flops.total(); }, commas);
    row(
        "time", [](const Costs& c) { return c.wall_ns; },
        [](std::int64_t ns) { return duration(static_cast<double>(ns) * 1e-9); });
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    term("bytes held");
    for (const auto& lane : lanes) {
        const std::string held =
            lane->steps() == 0 ? "-" : short_bytes(lane->step(viewer.step_of(*lane)).kv_bytes_held);
        number(held, "", true);
    }
    ImGui::EndTable();
    ImGui::PopStyleVar();
}

}  // namespace kvtape
