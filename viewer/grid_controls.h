// What stands above the cache grids: by what they are coloured, which sequence is shown, and what
// the colours mean.
#pragma once

namespace kvtape {

class Viewer;

void draw_grid_controls(Viewer& viewer);

}  // namespace kvtape
