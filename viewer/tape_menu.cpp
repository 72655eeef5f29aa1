#include "viewer/tape_menu.h"

#include <imgui.h>
#include <algorithm>
#include <filesystem>

#include "viewer/viewer.h"

namespace kvtape {

std::vector<std::string> tapes_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    // Not a loop over the entries, which throws where a folder cannot be read to its end.
    namespace fs = std::filesystem;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const fs::path& path = at->path();
        if (path.extension() == ".tape" || path.extension() == ".jsonl") {
            names.push_back(path.filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

void draw_tape_menu(Viewer& viewer) {
    const std::vector<std::string> names = tapes_in(".");
    for (const std::string& name : names) {
        if (ImGui::MenuItem(name.c_str())) viewer.open_instead({name});
    }
    if (names.empty()) ImGui::TextDisabled("no tapes in this folder");
    if (names.empty() || viewer.show.tapes().empty()) return;
    ImGui::Separator();
    if (ImGui::BeginMenu("Beside those on show")) {
        for (const std::string& name : names) {
            if (!ImGui::MenuItem(name.c_str())) continue;
            viewer.message.clear();
            viewer.open(name);
        }
        ImGui::EndMenu();
    }
}

}  // namespace kvtape
