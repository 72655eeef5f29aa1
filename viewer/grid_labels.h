// The words beside and under a cache grid: layers and heads, tokens and positions.
#pragma once

#include <cstdint>

#include "viewer/grid_geometry.h"
#include "viewer/layout.h"
#include "viewer/viewer.h"

namespace kvtape {

// Columns of the longest lane: all lanes are drawn on its axis, so that equal positions stand under
// each other.
std::int64_t longest_of_all(const Viewer& viewer);

// The columns on show, out of `all`.
Window positions_in_view(const GridView& view, std::int64_t all);

float axis_height();
float label_width();

// Whether a column is wide enough for the text of its token, in a lane of this width.
bool tokens_fit(const Viewer& viewer, float lane_width, std::int64_t all);

// Left of the lines: "layer 0  h1 K" where a line is high enough, else only the layers.
void draw_track_labels(const LaneHistory& lane, const GridGeometry& geometry, const Rect& labels,
                       const Palette& palette);

// Under the columns: the token itself where it fits, else positions at round distances.
void draw_token_labels(const LaneHistory& lane, const Viewer& viewer, const GridGeometry& geometry,
                       const Rect& labels);

}  // namespace kvtape
