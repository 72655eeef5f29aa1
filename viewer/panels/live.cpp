#include "viewer/live.h"

#include <imgui.h>

#include "viewer/panel.h"
#include "viewer/viewer.h"

namespace kvtape {

void draw_live(Viewer& viewer) {
    if (viewer.live) return viewer.live->draw(viewer);
    ImGui::TextUnformatted("Live mode needs a window: start 'kvtape view' without a picture.");
}

}  // namespace kvtape
