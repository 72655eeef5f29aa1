#include "viewer/live.h"

#include <imgui.h>

#include "viewer/panel.h"
#include "viewer/viewer.h"

namespace kvtape {

void draw_live(Viewer& viewer) {
    if (viewer.live) return viewer.live->draw(viewer);
    ImGui::TextUnformatted("There is no model here to run.");
}

}  // namespace kvtape
