#include "viewer/viewer.h"

#include <imgui.h>
#include <algorithm>

#include "core/check.h"
#include "viewer/guide.h"
#include "viewer/imgui_compat.h"
#include "viewer/layout.h"
#include "viewer/live.h"
#include "viewer/panel.h"
#include "viewer/style.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

// Small enough for a panel, not so small that its title is cut.
const ImVec2 smallest_panel = {160, 90};

bool opens_at_first(const char* panel, const Room& room) {
    return default_place(panel, room).has_value();
}

}  // namespace

Viewer::Viewer(Textures& textures) : textures_(textures) {}
Viewer::~Viewer() = default;

bool Viewer::open(const std::string& path) {
    try {
        show.open(path);
    } catch (const Error& error) {
        message = error.what();
        return false;
    }
    message.clear();
    if (show.tapes().back().damaged) message = show.tapes().back().remark;
    jump(playhead, playhead.step, steps());
    return true;
}

std::int64_t Viewer::step_of(const LaneHistory& lane) const {
    return std::min(playhead.step, lane.steps() - 1);
}

Playhead Viewer::playhead_of(const LaneHistory& lane) const {
    Playhead at = playhead;
    if (at.step >= lane.steps()) {
        at.step = lane.steps() - 1;
        at.within = 1;
    }
    return at;
}

Viewer::Picture& Viewer::picture(std::size_t lane) {
    if (pictures_.size() < show.lanes().size()) pictures_.resize(show.lanes().size());
    Picture& picture = pictures_[lane];
    if (picture.texture == 0) picture.texture = textures_.create();
    const LaneHistory& history = *show.lanes()[lane];
    if (picture.image.paint(history, playhead, grid.sequence, grid.by, palette(), dark)) {
        const TrackImage& image = picture.image;
        if (image.width() > 0 && image.height() > 0) {
            textures_.upload(picture.texture, image.width(), image.height(), image.pixels());
        }
    }
    return picture;
}

void Viewer::frame(double seconds) {
    if (live) live->feed(*this);
    show.poll();
    if (guide) guide->advance(*this, seconds);
    advance(playhead, seconds, steps());
    hovered.reset();
    handle_keys();
    draw_menu();
    draw_panels();
    if (show_help) draw_help(*this);
    draw_message(*this);
}

void Viewer::handle_keys() {
    if (ImGui::GetIO().WantTextInput) return;
    const std::int64_t now = playhead.step;
    if (key_pressed(ImGuiKey_Space, false)) toggle(playhead, steps());
    if (key_pressed(ImGuiKey_RightArrow)) play_one(playhead, steps());
    if (key_pressed(ImGuiKey_LeftArrow)) {
        jump(playhead, playhead.within < 1 ? now : now - 1, steps());
    }
    if (key_pressed(ImGuiKey_PageDown)) jump(playhead, now + 10, steps());
    if (key_pressed(ImGuiKey_PageUp)) jump(playhead, now - 10, steps());
    if (key_pressed(ImGuiKey_Home, false)) jump(playhead, 0, steps());
    if (key_pressed(ImGuiKey_End, false)) jump(playhead, steps() - 1, steps());
    if (key_pressed(ImGuiKey_UpArrow)) {
        playhead.steps_per_second = std::min(playhead.steps_per_second * 2, 64.0);
    }
    if (key_pressed(ImGuiKey_DownArrow)) {
        playhead.steps_per_second = std::max(playhead.steps_per_second / 2, 0.125);
    }
    if (key_pressed(ImGuiKey_Escape, false)) {
        show_help = false;
        message.clear();
        selected.reset();
    }
    for (const ImWchar typed : ImGui::GetIO().InputQueueCharacters) {
        if (typed == '?' || typed == 'h') show_help = !show_help;
        if (typed == 'd') jump_to_phase(*this, Phase::decode);
        if (typed == 'p') jump_to_phase(*this, Phase::prefill);
        if (typed == 'n') jump_to_next_preemption(*this);
        if (typed == 'f') grid = GridView{grid.by, grid.sequence};
        if (typed == 'c') {
            const auto next = static_cast<std::size_t>(grid.by) + 1;
            grid.by = all_colour_modes[next % std::size(all_colour_modes)];
        }
        if (typed == 'l') wants_layout = true;
    }
}

void Viewer::draw_menu() {
    if (!only_panel.empty() || !ImGui::BeginMainMenuBar()) return;
    if (ImGui::BeginMenu("Panels")) {
        for (const Panel& panel : all_panels()) {
            bool& shown = visible[panel.name];
            ImGui::MenuItem(panel.title, nullptr, &shown);
            hint(panel.purpose);
        }
        ImGui::Separator();
        if (ImGui::MenuItem("Default places", "l")) wants_layout = true;
        ImGui::EndMenu();
    }
    if (ImGui::BeginMenu("Lessons")) {
        draw_guide_menu(*this);
        ImGui::EndMenu();
    }
    if (ImGui::BeginMenu("View")) {
        if (ImGui::MenuItem("Dark", nullptr, dark)) {
            dark = true;
            apply_style(palette(), scale);
        }
        if (ImGui::MenuItem("Light", nullptr, !dark)) {
            dark = false;
            apply_style(palette(), scale);
        }
        ImGui::Separator();
        if (ImGui::MenuItem("Keys", "?", show_help)) show_help = !show_help;
        ImGui::EndMenu();
    }
    draw_tape_names(*this);
    ImGui::EndMainMenuBar();
}

void Viewer::draw_panels() {
    const ImGuiIO& io = ImGui::GetIO();
    if (!only_panel.empty()) {
        for (const Panel& panel : all_panels()) {
            if (only_panel != panel.name) continue;
            ImGui::SetNextWindowPos({0, 0});
            ImGui::SetNextWindowSize(io.DisplaySize);
            ImGui::Begin(panel.title, nullptr,
                         ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                             ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings);
            panel.draw(*this);
            ImGui::End();
        }
        return;
    }

    const Room room{io.DisplaySize.x, io.DisplaySize.y, ImGui::GetFrameHeight(), scale,
                    guide != nullptr};
    for (const Panel& panel : all_panels()) {
        bool& shown =
            visible.try_emplace(panel.name, opens_at_first(panel.name, room)).first->second;
        if (!shown) continue;
        const Rect centre{room.width * 0.3f, room.height * 0.2f, room.width * 0.4f,
                          room.height * 0.5f};
        const Rect place = default_place(panel.name, room).value_or(centre);
        const ImGuiCond when = wants_layout ? ImGuiCond_Always : ImGuiCond_FirstUseEver;
        ImGui::SetNextWindowPos({place.x, place.y}, when);
        ImGui::SetNextWindowSize({place.width, place.height}, when);
        ImGui::SetNextWindowSizeConstraints(
            {smallest_panel.x * scale, smallest_panel.y * scale * 0.8f}, {1e5f, 1e5f});
        if (ImGui::Begin(panel.title, &shown, ImGuiWindowFlags_NoCollapse)) panel.draw(*this);
        ImGui::End();
    }
    wants_layout = false;
}

}  // namespace kvtape
