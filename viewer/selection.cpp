#include "viewer/selection.h"

namespace kvtape {

bool exists(const Viewer& viewer, const CellId& cell) {
    const auto& lanes = viewer.show.lanes();
    if (cell.lane >= lanes.size()) return false;
    const LaneHistory& lane = *lanes[cell.lane];
    const ModelShape& shape = lane.shape();
    return lane.steps() > 0 && cell.track.layer >= 0 && cell.track.layer < shape.layers &&
           cell.track.kv_head >= 0 && cell.track.kv_head < shape.kv_heads && cell.position >= 0 &&
           cell.position < lane.longest(cell.sequence);
}

Cell cell_at_playhead(const Viewer& viewer, const CellId& cell) {
    const LaneHistory& lane = *viewer.show.lanes()[cell.lane];
    return lane.playback().cell(viewer.step_of(lane), cell.sequence, cell.track.layer,
                                cell.track.kv_head, cell.track.kind, cell.position);
}

void select_cell(Viewer& viewer, const CellId& cell) {
    viewer.selected = cell;
    viewer.grid.sequence = cell.sequence;
    if (!exists(viewer, cell)) return;
    GridView& grid = viewer.grid;
    const std::int64_t track = track_number(viewer.show.lanes()[cell.lane]->shape(), cell.track);
    grid.first_position =
        first_that_shows(static_cast<double>(cell.position), grid.first_position, grid.positions);
    grid.first_track = first_that_shows(static_cast<double>(track), grid.first_track, grid.tracks);
}

void focus_event(Viewer& viewer, std::size_t lane, std::int64_t number) {
    viewer.event_lane = lane;
    viewer.event_focus = number;
    viewer.visible["events"] = true;
}

void choose_sequence_on_show(Viewer& viewer) {
    std::optional<std::int32_t> first;
    for (const auto& lane : viewer.show.lanes()) {
        for (const std::int32_t sequence : lane->sequences()) {
            if (sequence == viewer.grid.sequence) return;
            if (!first) first = sequence;
        }
    }
    if (first) viewer.grid.sequence = *first;
}

double first_that_shows(double place, double first, double count) {
    if (count <= 0) return first;
    if (place < first) return place;
    if (place + 1 > first + count) return place + 1 - count;
    return first;
}

}  // namespace kvtape
