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
//
// The live panel takes the place of the inspector, and the inspector that of the events.
std::optional<Rect> default_place(std::string_view panel, const Room& room) {
    const auto [width, height, top, scale, guided, live] = room;
    const float transport = 106 * scale;
    const float right = std::clamp(width * 0.25f, 250 * scale, 420 * scale);
    const float left = width - right;
    const float body = height - top - transport;
    const float table = std::min(160 * scale, body * 0.28f);
    const float bottom = std::max(body * 0.28f, 150 * scale);
    const float grid = body - table - bottom;
    const float bottom_y = top + grid + table;

    if (panel == "grid") return Rect{0, top, left, grid};
    if (panel == "side-by-side") return Rect{0, top + grid, left, table};
    const float part = left / 3;
    if (panel == "memory") return Rect{0, bottom_y, part, bottom};
    if (panel == "costs") return Rect{part, bottom_y, part, bottom};
    if (panel == "latency") return Rect{2 * part, bottom_y, part, bottom};
    const float column = grid + table;
    const float guide = guided ? column * (live ? 0.4f : 0.66f) : 0;
    if (panel == "guide" && guided) return Rect{left, top, right, guide};
    if (panel == (live ? "live" : "inspector")) {
        return Rect{left, top + guide, right, column - guide};
    }
    if (panel == (live ? "inspector" : "events")) return Rect{left, bottom_y, right, bottom};
    if (panel == "transport") return Rect{0, height - transport, width, transport};
    return std::nullopt;
}

}  // namespace kvtape
