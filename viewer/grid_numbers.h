// What is in the cells of the cache grid: the D numbers of each row, when it is zoomed in so far
// that they can be told apart.
#pragma once

#include <cstddef>

#include "viewer/grid_geometry.h"
#include "viewer/viewer.h"

namespace kvtape {

// Draws them inside the cells of the lane, within a rim that keeps the colour of the cell.
void draw_numbers_in_cells(const Viewer& viewer, std::size_t lane, const GridGeometry& geometry);

}  // namespace kvtape
