#include "viewer/viewer.h"

#include <imgui.h>
#include <algorithm>
#include <utility>

#include "core/check.h"
#include "viewer/guide.h"
#include "viewer/imgui_compat.h"
#include "viewer/layout.h"
#include "viewer/live.h"
#include "viewer/panel.h"
#include "viewer/selection.h"
#include "viewer/style.h"
#include "viewer/tape_menu.h"
#include "viewer/widgets.h"

namespace kvtape {
namespace {

bool opens_at_first(const char* panel, const Room& room) {
    return default_place(panel, room).has_value();
}

// Around the window that is open.
void draw_frame(Rgba colour, float thickness) {
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.PushClipRectFullScreen();
    draw.AddRect({at.x + thickness / 2, at.y + thickness / 2},
                 {at.x + size.x - thickness / 2, at.y + size.y - thickness / 2}, colour,
                 ImGui::GetStyle().WindowRounding, 0, thickness);
    draw.PopClipRect();
}

}  // namespace

Viewer::Viewer(Textures& textures) : textures_(textures) {}
Viewer::~Viewer() = default;

bool Viewer::open(const std::string& path) {
    try {
        show.open(path);
    } catch (const Error& error) {
        say(error.what());
        return false;
    }
    jump(playhead, playhead.step, steps());
    return true;
}

void Viewer::open_instead(const std::vector<std::string>& paths) {
    Show opened;
    message.clear();
    for (const std::string& path : paths) {
        try {
            opened.open(path);
        } catch (const Error& error) {
            say(error.what());
        }
    }
    if (opened.tapes().empty()) return;
    const std::string errors = message;
    close_all();
    message = errors;
    show.replace(std::move(opened));
    begin();
}

void Viewer::begin() {
    const bool plays = steps() > 0 && !show.follows();
    jump(playhead, plays ? 0 : steps() - 1, steps());
    if (!plays) return;
    playhead.within = 0;
    playhead.playing = true;
}

void Viewer::say(const std::string& line) {
    message += (message.empty() ? "" : "\n") + line;
}

void Viewer::close_all() {
    show.clear();
    for (Picture& picture : pictures_) picture.image = {};
    pass.reset();
    selected.reset();
    event_focus.reset();
    event_lane = 0;
    events = {};
    message.clear();
    grid = GridView{grid.by};
    memory.clear();
    costs.clear();
    latency.clear();
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

Viewer::Picture& Viewer::picture(std::size_t lane, const GridGeometry& geometry) {
    if (pictures_.size() < show.lanes().size()) pictures_.resize(show.lanes().size());
    Picture& picture = pictures_[lane];
    if (picture.texture == 0) picture.texture = textures_.create();
    const LaneHistory& history = *show.lanes()[lane];
    const bool painted =
        picture.image.paint(history, playhead_of(history), grid.sequence, grid.by, palette(), dark);
    const std::int64_t most = textures_.largest_side();
    ColumnsOnShow shown = geometry.columns(picture.image.width());
    shown.pixels = std::min(shown.pixels, most);
    if (!painted && shown == picture.shown) return picture;
    picture.shown = shown;
    if (shown.pixels == 0) return picture;
    const std::int64_t height = std::min(picture.image.lines(), most);
    picture.image.cut(shown, height, texels_);
    textures_.upload(picture.texture, shown.pixels, height, texels_);
    return picture;
}

void Viewer::frame(double seconds) {
    if (live) live->feed(*this);
    const std::int64_t steps_before = steps();
    if (show.poll()) follow(playhead, steps_before, steps());
    for (const std::string& error : show.take_errors()) say(error);
    if (guide) guide->advance(*this, seconds);
    advance(playhead, seconds, steps());
    choose_sequence_on_show(*this);
    hovered.reset();
    grids.clear();
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
    // The event list, when the mouse is over it, takes these.
    if (!std::exchange(events.has_keys, false)) {
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
    if (ImGui::BeginMenu("Tapes")) {
        draw_tape_menu(*this);
        ImGui::EndMenu();
    }
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

    // Where the guide comes or goes, the others make room or take it back.
    const bool guided = visible.try_emplace("guide", guide != nullptr).first->second;
    // The live panel takes the room of the event list, if that is open, and gives it back.
    const bool live_is_open = visible["live"];
    if (live_is_open != std::exchange(live_is_open_, live_is_open)) {
        bool& events_shown = visible.try_emplace("events", true).first->second;
        if (live_is_open) events_made_room_ = std::exchange(events_shown, false);
        if (!live_is_open) events_shown = events_shown || events_made_room_;
    }
    const Room room{io.DisplaySize.x, io.DisplaySize.y, ImGui::GetFrameHeight(), scale,
                    guided,           live_is_open};
    if (wants_layout) moved_panels.clear();
    const bool place_all = std::exchange(room_, room) != room || wants_layout;
    for (const Panel& panel : all_panels()) {
        bool& shown =
            visible.try_emplace(panel.name, opens_at_first(panel.name, room)).first->second;
        if (!shown) continue;
        const Rect place = place_of(panel.name, room, moved_panels);
        const ImGuiCond when = place_all ? ImGuiCond_Always : ImGuiCond_Appearing;
        ImGui::SetNextWindowPos({place.x, place.y}, when);
        ImGui::SetNextWindowSize({place.width, place.height}, when);
        ImGui::SetNextWindowSizeConstraints({least_width * scale, least_height * scale},
                                            {1e5f, 1e5f});
        if (ImGui::Begin(panel.title, &shown, ImGuiWindowFlags_NoCollapse)) {
            panel.draw(*this);
            if (guide && guide->points_at(panel.name)) draw_frame(palette().pointer, 3 * scale);
        }
        if (io.MouseDown[ImGuiMouseButton_Left]) {  // only then can it be moved
            const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
            note_place(panel.name, {at.x, at.y, size.x, size.y}, room, moved_panels);
        }
        ImGui::End();
    }
    wants_layout = false;
    if (!visible["guide"]) guide.reset();
}

// The guide and the live panel are opened by what the program is started with.
Layout Viewer::layout() const {
    Layout layout{moved_panels, visible, dark};
    layout.visible.erase("guide");
    layout.visible.erase("live");
    if (live_is_open_ && events_made_room_) layout.visible["events"] = true;
    return layout;
}

}  // namespace kvtape
