#include "viewer/grid_geometry.h"

#include <algorithm>
#include <cmath>

namespace kvtape {

std::optional<GridGeometry::Hit> GridGeometry::hit(double x, double y) const {
    const bool inside = x >= view_.x && x < view_.x + view_.width && y >= view_.y &&
                        y < view_.y + view_.height && view_.width > 0 && view_.height > 0;
    if (!inside) return std::nullopt;
    const Hit cell{static_cast<std::int64_t>(std::floor(track_at(y))),
                   static_cast<std::int64_t>(std::floor(position_at(x)))};
    if (cell.track < 0 || cell.track >= all_tracks_ || cell.position < 0 ||
        cell.position >= all_positions_) {
        return std::nullopt;
    }
    return cell;
}

ColumnsOnShow GridGeometry::columns(std::int64_t width) const {
    double first = view_.first_position;
    double last = std::min(first + view_.positions, static_cast<double>(width));
    if (!(last > first)) return {};
    if (cell_width() >= 1) {
        first = std::floor(first);
        last = std::min(std::ceil(last), static_cast<double>(width));
        return {first, last - first, static_cast<std::int64_t>(last - first)};
    }
    const auto pixels = static_cast<std::int64_t>((last - first) * cell_width());
    return {first, last - first, std::max<std::int64_t>(pixels, 1)};
}

Window zoomed(Window window, double factor, double share, double all) {
    const double fixed = window.first + window.count * share;
    const double count = std::clamp(window.count * factor, 1.0, std::max(all, 1.0));
    return moved({fixed - count * share, count}, 0, all);
}

Window moved(Window window, double cells, double all) {
    const double last = std::max(all - window.count, 0.0);
    return {std::clamp(window.first + cells, 0.0, last), window.count};
}

}  // namespace kvtape
