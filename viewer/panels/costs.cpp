#include <imgui.h>

#include "viewer/panel.h"
#include "viewer/widgets.h"

namespace kvtape {

void draw_costs(Viewer& viewer) {
    if (draw_if_empty(viewer)) return;
}

}  // namespace kvtape
