#include <imgui.h>

#include "viewer/panel.h"
#include "viewer/widgets.h"

namespace kvtape {

void draw_inspector(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
}

}  // namespace kvtape
