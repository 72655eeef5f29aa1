// A pass that live mode has not finished yet, in the cache grid: layer after layer lights up.
#pragma once

#include <cstddef>

#include "viewer/grid_geometry.h"
#include "viewer/viewer.h"

namespace kvtape {

// The pass, if it is one of this lane, the grid shows its sequence and the playhead stands at the
// end of all that the lane has.
const PassUnderWay* pass_on_show(const Viewer& viewer, std::size_t lane);

// Draws the rows of the pass over the cells of its lane: those of the layers done as written now,
// the others as empty, and a frame around the layer that is being computed.
void draw_pass_in_cells(const Viewer& viewer, const PassUnderWay& pass,
                        const GridGeometry& geometry);

}  // namespace kvtape
