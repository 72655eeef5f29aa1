#include "viewer/layout.h"

#include <algorithm>

namespace kvtape {

//   +---------------------------------------------+-----------+
//   | cache grid                                  | guide     |
//   |                                             | inspector |
//   +---------------------------------------------+           |
//   | side by side                                |           |
//   +--------------+--------------+---------------+-----------+
//   | memory       | costs        | latency       | events    |
//   +--------------+--------------+---------------+-----------+
//   | transport                                               |
//   +---------------------------------------------------------+
std::optional<Rect> default_place(std::string_view panel, const Room& room) {
    const auto [width, height, top, scale, guided] = room;
    const float transport = 106 * scale;
    const float right = std::clamp(width * 0.25f, 250 * scale, 420 * scale);
    const float left = width - right;
    const float body = height - top - transport;
    const float table = std::min(176 * scale, body * 0.25f);
    const float bottom = std::max(body * 0.28f, 150 * scale);
    const float grid = body - table - bottom;
    const float bottom_y = top + grid + table;

    if (panel == "grid") return Rect{0, top, left, grid};
    if (panel == "side-by-side") return Rect{0, top + grid, left, table};
    if (panel == "memory") return Rect{0, bottom_y, left / 3, bottom};
    if (panel == "costs") return Rect{left / 3, bottom_y, left / 3, bottom};
    if (panel == "latency") return Rect{2 * left / 3, bottom_y, left / 3, bottom};
    const float column = grid + table;
    const float guide = guided ? column * 0.6f : 0;
    if (panel == "guide" && guided) return Rect{left, top, right, guide};
    if (panel == "inspector") return Rect{left, top + guide, right, column - guide};
    if (panel == "events") return Rect{left, bottom_y, right, bottom};
    if (panel == "transport") return Rect{0, height - transport, width, transport};
    return std::nullopt;
}

}  // namespace kvtape
