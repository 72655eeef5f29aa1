// A row per quantity, two columns per lane: in this step, and so far. Half of a number is another
// number: where all digits do not fit, they are rounded, and where that is too long, one scrolls.
#include <imgui.h>
#include <algorithm>
#include <vector>

#include "viewer/panel.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

struct Row {
    const char* label;
    std::int64_t (*value)(const Costs&);
    std::string (*text)(std::int64_t value, bool all_digits);
};

std::string count_text(std::int64_t value, bool all_digits) {
    return all_digits ? with_commas(value) : short_number(static_cast<double>(value));
}

std::string time_text(std::int64_t ns, bool) {
    return duration(static_cast<double>(ns) * 1e-9);
}

constexpr Row rows[] = {
    {"rows written", [](const Costs& c) { return c.rows_written; }, count_text},
    {"rows read", [](const Costs& c) { return c.rows_read; }, count_text},
    {"rows fetched", [](const Costs& c) { return c.rows_fetched; }, count_text},
    {"FLOPs", [](const Costs& c) { return c.flops.total(); }, count_text},
    {"time", [](const Costs& c) { return c.wall_ns; }, time_text},
};
constexpr const char* bytes_label = "bytes held";

// How much is written.
struct Detail {
    bool all_digits, says_step;
};
constexpr Detail details[] = {{true, true}, {false, true}, {false, false}};

std::string heading(const Viewer& viewer, std::size_t lane, const Detail& detail) {
    return lane_title(viewer, lane) + (detail.says_step ? ": step" : "");
}

float text_width(const std::string& text) {
    return ImGui::CalcTextSize(text.c_str()).x;
}

// Of the column of labels and then of two columns per lane, in pixels. The numbers are those at the
// end of the tape, which are the longest: so the columns stand still while it plays.
std::vector<float> column_widths(const Viewer& viewer, const Detail& detail) {
    std::vector<float> widths = {text_width(bytes_label)};
    for (const Row& row : rows) widths[0] = std::max(widths[0], text_width(row.label));
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const LaneHistory& lane = *viewer.show.lanes()[i];
        float numbers = text_width("999.99 ms");
        for (const Row& row : rows) {
            if (lane.steps() == 0) continue;
            const std::int64_t most = row.value(lane.costs_so_far(lane.steps() - 1));
            numbers = std::max(numbers, text_width(row.text(most, detail.all_digits)));
        }
        const float title = text_width(heading(viewer, i, detail));
        widths.push_back(std::max({numbers, title, text_width("999.99 MiB")}));
        widths.push_back(std::max(numbers, text_width("so far")));
    }
    return widths;
}

float total(const std::vector<float>& widths) {
    float all = 0;
    for (const float width : widths) all += width + 2 * ImGui::GetStyle().CellPadding.x + 1;
    return all;
}

void draw_titles(const Viewer& viewer, const Detail& detail) {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    ImGui::TableNextColumn();
    const auto title = [](const std::string& text, const std::string& explained) {
        ImGui::TableNextColumn();
        ImGui::TableHeader((text + "##" + std::to_string(ImGui::TableGetColumnIndex())).c_str());
        hint(explained.c_str());
    };
    for (std::size_t i = 0; i < viewer.show.lanes().size(); ++i) {
        const LaneHistory& lane = *viewer.show.lanes()[i];
        const std::string name = "lane '" + lane_title(viewer, i) + "'";
        const std::string step = with_commas(std::max<std::int64_t>(viewer.step_of(lane), 0));
        title(heading(viewer, i, detail), "What " + name + " does in step " + step);
        title("so far", "What " + name + " has done in steps 0 to " + step);
    }
}

// `exact` is shown when the shortened number is hovered.
void draw_number(const std::string& text, const std::string& exact = {}) {
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(text.c_str());
    if (!exact.empty() && exact != text) hint(exact.c_str());
}

void draw_row(const Viewer& viewer, const Row& row, bool all_digits) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    term(row.label);
    for (const auto& lane : viewer.show.lanes()) {
        const std::int64_t step = viewer.step_of(*lane);
        for (const bool so_far : {false, true}) {
            if (lane->steps() == 0) {
                draw_number("-");
                continue;
            }
            const auto value = row.value(so_far ? lane->costs_so_far(step) : lane->costs(step));
            draw_number(row.text(value, all_digits), row.text(value, true));
        }
    }
}

void draw_bytes_held(const Viewer& viewer) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    term(bytes_label);
    for (const auto& lane : viewer.show.lanes()) {
        draw_number(lane->steps() == 0
                        ? "-"
                        : short_bytes(lane->step(viewer.step_of(*lane)).kv_bytes_held));
        ImGui::TableNextColumn();  // no sum of it means anything
    }
}

}  // namespace

void draw_side_by_side(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
    const int columns = 1 + 2 * static_cast<int>(viewer.show.lanes().size());
    if (columns > 60) {
        ImGui::TextUnformatted("More lanes are open than fit into a table.");
        return;
    }
    // Low, so that all lines are seen in a window of 1280 x 720.
    const ImVec2 padding = ImGui::GetStyle().CellPadding;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding.x, padding.y / 2});
    const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ScrollbarSize;
    const auto fits = [&](const Detail& detail) {
        return total(column_widths(viewer, detail)) <= room;
    };
    const Detail* const first = std::find_if(std::begin(details), std::end(details), fits);
    const bool scrolls = first == std::end(details);
    const Detail detail = scrolls ? details[1] : *first;
    const std::vector<float> widths = column_widths(viewer, detail);

    // A table keeps the widths that it was made with, so other widths make another one.
    const std::string id = "side by side" + std::to_string(total(widths));
    ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_RowBg |
                            ImGuiTableFlags_ScrollY | ImGuiTableFlags_NoSavedSettings;
    flags |= scrolls ? ImGuiTableFlags_ScrollX : ImGuiTableFlags_SizingStretchProp;
    if (ImGui::BeginTable(id.c_str(), columns, flags)) {
        ImGui::TableSetupScrollFreeze(1, 1);
        for (std::size_t i = 0; i < widths.size(); ++i) {
            const bool fixed = scrolls || i == 0;
            ImGui::TableSetupColumn(
                "", fixed ? ImGuiTableColumnFlags_WidthFixed : ImGuiTableColumnFlags_WidthStretch,
                widths[i]);
        }
        draw_titles(viewer, detail);
        for (const Row& row : rows) draw_row(viewer, row, detail.all_digits);
        draw_bytes_held(viewer);
        ImGui::EndTable();
    }
    ImGui::PopStyleVar();
}

}  // namespace kvtape
