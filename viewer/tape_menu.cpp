#include "viewer/tape_menu.h"

#include <imgui.h>
#include <algorithm>
#include <filesystem>

#include "viewer/viewer.h"

namespace kvtape {

std::vector<std::string> tapes_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string ending = entry.path().extension().string();
        if (ending == ".tape" || ending == ".jsonl") {
            names.push_back(entry.path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void draw_tape_menu(Viewer& viewer) {
    const std::vector<std::string> names = tapes_in(".");
    for (const std::string& name : names) {
        if (!ImGui::MenuItem(name.c_str())) continue;
        viewer.close_all();
        viewer.open(name);
        jump(viewer.playhead, 0, viewer.steps());
    }
    if (names.empty()) ImGui::TextDisabled("no tapes in this folder");
    if (names.empty() || viewer.show.tapes().empty()) return;
    ImGui::Separator();
    if (ImGui::BeginMenu("Beside those on show")) {
        for (const std::string& name : names) {
            if (ImGui::MenuItem(name.c_str())) viewer.open(name);
        }
        ImGui::EndMenu();
    }
}

}  // namespace kvtape
