#include "viewer/widgets.h"

#include <imgui.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "viewer/glossary.h"
#include "viewer/live.h"

namespace kvtape {

namespace {

void draw_hint(const char* text) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetFontSize() * 24);
    ImGui::TextUnformatted(text);
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
}

}  // namespace

void hint(const char* text) {
    if (ImGui::IsItemHovered()) draw_hint(text);
}

void hint_over(const Rect& place, const std::string& text) {
    if (!ImGui::IsWindowHovered()) return;
    if (ImGui::IsMouseHoveringRect({place.x, place.y},
                                   {place.x + place.width, place.y + place.height})) {
        draw_hint(text.c_str());
    }
}

void term(const char* text) {
    ImGui::TextUnformatted(text);
    if (const char* explained = explanation(text)) hint(explained);
}

void same_line_at_right(float width) {
    ImGui::SameLine();
    const float room = ImGui::GetContentRegionAvail().x - width;
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(room, 0.0f));
}

std::string fitting(const std::string& text, float width) {
    if (ImGui::CalcTextSize(text.c_str()).x <= width) return text;
    std::string part = text;
    const std::string dots = "\xe2\x80\xa6";
    while (!part.empty() && ImGui::CalcTextSize((part + dots).c_str()).x > width) {
        // A character of more than one byte goes as a whole.
        while (part.size() > 1 && (static_cast<unsigned char>(part.back()) & 0xc0) == 0x80) {
            part.pop_back();
        }
        part.pop_back();
    }
    return part + dots;
}

std::string short_number(double value) {
    static constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
    std::size_t prefix = 0;
    while (std::abs(value) >= 999.5 && prefix + 1 < std::size(prefixes)) {
        value /= 1000;
        ++prefix;
    }
    const int digits = prefix == 0 || std::abs(value) >= 99.95 ? 0
                       : std::abs(value) >= 9.995              ? 1
                                                               : 2;
    return decimal(value, digits) + prefixes[prefix];
}

std::string short_bytes(std::int64_t bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    return decimal(value, unit == 0 ? 0 : 2) + " " + units[unit];
}

std::string lane_title(const Viewer& viewer, std::size_t lane) {
    const std::string& name = viewer.show.lanes()[lane]->lane().name;
    if (viewer.show.tapes().size() < 2) return name;
    for (const OpenTape& tape : viewer.show.tapes()) {
        if (std::find(tape.lanes.begin(), tape.lanes.end(), lane) == tape.lanes.end()) continue;
        return std::filesystem::path(tape.path).stem().string() + ": " + name;
    }
    return name;
}

std::string step_title(const Step& step) {
    if (step.spans.empty()) return name(step.phase);
    const SpanRecord& span = step.spans.front();
    std::string title = name(step.phase);
    if (step.spans.size() > 1) {
        title += " of " + std::to_string(step.spans.size()) + " sequences";
    } else if (step.phase == Phase::prefill) {
        title += " of " + with_commas(std::ssize(span.tokens)) +
                 (span.tokens.size() == 1 ? " token" : " tokens");
    } else {
        title += " of position " + with_commas(span.first_position + std::ssize(span.tokens) - 1);
    }
    return title;
}

void jump_to_phase(Viewer& viewer, Phase phase) {
    for (const auto& lane : viewer.show.lanes()) {
        for (std::int64_t step = 0; step < lane->steps(); ++step) {
            if (lane->step(step).phase == phase) return jump(viewer.playhead, step, viewer.steps());
        }
    }
    viewer.message = std::string("no step of this tape is a ") + name(phase) + " step";
}

void jump_to_next_preemption(Viewer& viewer) {
    std::int64_t nearest = viewer.steps();
    for (const auto& lane : viewer.show.lanes()) {
        for (std::int64_t step = viewer.playhead.step + 1; step < lane->steps(); ++step) {
            const auto& pool = lane->step(step).pool;
            const bool preempts = std::any_of(pool.begin(), pool.end(), [](const PoolEvent& e) {
                return e.kind == PoolEventKind::preempt;
            });
            if (preempts) nearest = std::min(nearest, step);
        }
    }
    if (nearest < viewer.steps()) return jump(viewer.playhead, nearest, viewer.steps());
    viewer.message = "no later step of this tape preempts a sequence";
}

void draw_help(Viewer& viewer) {
    static constexpr const char* keys[][2] = {
        {"space", "play or pause"},
        {"right, left", "play one step, go back one"},
        {"page down, page up", "ten steps on, ten back"},
        {"home, end", "first step, last step"},
        {"up, down", "twice as fast, half as fast"},
        {"p, d, n", "go to prefill, to the first decode step, to the next preemption"},
        {"c", "next way to colour the grid"},
        {"f", "show the whole grid"},
        {"l", "put the panels back in place"},
        {"wheel, drag", "over the grid: zoom, down to the numbers in a row, and move"},
        {"click", "on a cell: look into it"},
        {"enter, backspace", "next page of the guide, the page before"},
        {"?, h", "show these keys, or hide them"},
        {"control q", "close the window"},
        {"escape", "close this, or let go of a cell"},
    };
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x / 2, size.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
    ImGui::SetNextWindowFocus();
    ImGui::Begin("Keys", &viewer.show_help,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoCollapse |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
    if (ImGui::BeginTable("keys", 2)) {
        for (const auto& [key, meaning] : keys) {
            ImGui::TableNextColumn();
            ImGui::TextDisabled("%s", key);
            ImGui::TableNextColumn();
            ImGui::TextUnformatted(meaning);
        }
        ImGui::EndTable();
    }
    ImGui::End();
}

void draw_message(Viewer& viewer) {
    if (viewer.message.empty()) return;
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    ImGui::SetNextWindowPos({size.x / 2, ImGui::GetFrameHeight() * 2}, ImGuiCond_Always, {0.5f, 0});
    ImGui::SetNextWindowSizeConstraints({0, 0}, {size.x * 0.8f, size.y});
    ImGui::PushStyleColor(ImGuiCol_Border, ImGui::GetColorU32(viewer.palette().warning));
    ImGui::Begin("##message", nullptr,
                 ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoTitleBar |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
    ImGui::PushTextWrapPos(size.x * 0.75f);
    ImGui::TextUnformatted(viewer.message.c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::SmallButton("Close")) viewer.message.clear();
    ImGui::End();
    ImGui::PopStyleColor();
}

// Beside its name, what is to be said of a tape: as much as fits, and all of it when hovered.
void draw_tape_names(Viewer& viewer) {
    const auto& tapes = viewer.show.tapes();
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    float room = ImGui::GetIO().DisplaySize.x - ImGui::GetCursorScreenPos().x - gap;
    std::vector<std::string> names;
    float remarks = 0;
    for (const OpenTape& tape : tapes) {
        names.push_back(std::filesystem::path(tape.path).filename().string());
        room -= ImGui::CalcTextSize(names.back().c_str()).x + gap;
        if (tape.remark.empty()) continue;
        room -= gap;
        remarks += 1;
    }
    for (std::size_t i = 0; i < tapes.size(); ++i) {
        ImGui::TextDisabled("%s", names[i].c_str());
        if (tapes[i].remark.empty()) continue;
        std::string remark = tapes[i].remark;
        const std::string name = "tape '" + tapes[i].path + "' ";
        if (remark.starts_with(name)) remark.erase(0, name.size());
        ImGui::TextColored(ImGui::ColorConvertU32ToFloat4(viewer.palette().warning), "%s",
                           fitting(remark, room / remarks).c_str());
        hint(tapes[i].remark.c_str());
    }
}

// How to get something on show.
const char* first_thing_to_do(Viewer& viewer) {
    if (!viewer.live) {
        return "Drop a file on this window, or start with 'kvtape view FILE'; 'kvtape demo' makes "
               "one.";
    }
    if (viewer.visible["live"]) {
        return "Drop a file on this window, or press Start in the panel Live.";
    }
    return "Drop a file on this window, or run the model: Panels > Live, in the menu above.";
}

bool draw_if_empty(Viewer& viewer) {
    if (viewer.steps() > 0) return false;
    ImGui::PushTextWrapPos(0);
    if (viewer.show.tapes().empty()) {
        const bool runs = !viewer.show.lanes().empty();  // in live mode
        if (runs) {
            ImGui::TextUnformatted("The first step is not done yet.");
        } else {
            ImGui::Text("No tape is open. %s", first_thing_to_do(viewer));
        }
    }
    for (const OpenTape& tape : viewer.show.tapes()) {
        const std::string why =
            tape.remark.empty() ? "the tape '" + tape.path + "' ends here" : tape.remark;
        ImGui::Text("No steps: %s.", why.c_str());
    }
    ImGui::PopTextWrapPos();
    return true;
}

}  // namespace kvtape
