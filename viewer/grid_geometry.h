// Where the cells of a lane stand on the screen: from (track, position) to pixels and back. It
// knows no windows.
#pragma once

#include <cstdint>
#include <optional>

#include "viewer/track_image.h"

namespace kvtape {

class GridGeometry {
  public:
    // The cells lie in [x, x + width) x [y, y + height) and show `positions` columns from
    // first_position on, and `tracks` rows from first_track on, both of which may be fractions.
    struct View {
        double x, y, width, height;
        double first_position, positions;
        double first_track, tracks;
    };
    GridGeometry(const View& view, std::int64_t all_positions, std::int64_t all_tracks)
        : view_(view), all_positions_(all_positions), all_tracks_(all_tracks) {}

    double cell_width() const { return view_.width / view_.positions; }
    double cell_height() const { return view_.height / view_.tracks; }
    double left(double position) const {
        return view_.x + (position - view_.first_position) * cell_width();
    }
    double top(double track) const { return view_.y + (track - view_.first_track) * cell_height(); }

    double position_at(double x) const {
        return view_.first_position + (x - view_.x) / cell_width();
    }
    double track_at(double y) const { return view_.first_track + (y - view_.y) / cell_height(); }

    struct Hit {
        std::int64_t track, position;
    };
    // The cell at a point; none outside the grid.
    std::optional<Hit> hit(double x, double y) const;

    // Of a picture of `width` positions: whole cells, a pixel each, or, where a pixel has to stand
    // for several cells, as many pixels as the screen has. None if nothing of it is in view.
    ColumnsOnShow columns(std::int64_t width) const;

    const View& view() const { return view_; }

  private:
    View view_;
    std::int64_t all_positions_, all_tracks_;
};

// One side of a view, moved or zoomed: `first` and `count` out of `all` cells.
struct Window {
    double first, count;
};
// Zooms by `factor` (2: twice as many cells) around the point `share` [0, 1] of the way across.
// Never less than one cell, never more than all of them.
Window zoomed(Window window, double factor, double share, double all);
Window moved(Window window, double cells, double all);

}  // namespace kvtape
