#include "viewer/guide.h"

#include "viewer/panel.h"
#include "viewer/viewer.h"

namespace kvtape {

void draw_guide(Viewer& viewer) {
    if (viewer.guide) viewer.guide->draw(viewer);
}

}  // namespace kvtape
