// The cell that the grid, the inspector, the event list and the guide agree on.
#pragma once

#include <optional>

#include "viewer/viewer.h"

namespace kvtape {

// Whether there is such a cell: another tape may have been opened since it was chosen.
bool exists(const Viewer& viewer, const CellId& cell);

// The cell as it is at the step on show. The cell must exist.
Cell cell_at_playhead(const Viewer& viewer, const CellId& cell);

// Selects the cell. If the grid is zoomed in, it moves as little as shows the cell.
void select_cell(Viewer& viewer, const CellId& cell);

// Lets the event list scroll to the event and mark it.
void focus_event(Viewer& viewer, std::size_t lane, std::int64_t number);

// The grid shows a sequence that some lane has, if there is any.
void choose_sequence_on_show(Viewer& viewer);

// First of `count` places on show, so that `place` is among them; count 0 = all places are.
double first_that_shows(double place, double first, double count);

}  // namespace kvtape
