#include "viewer/layout.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace kvtape {
namespace {

// Dear ImGui keeps whole pixels.
constexpr float rounding = 1.5f;

bool near(const Rect& a, const Rect& b) {
    return std::abs(a.x - b.x) < rounding && std::abs(a.y - b.y) < rounding &&
           std::abs(a.width - b.width) < rounding && std::abs(a.height - b.height) < rounding;
}

// Whether a panel there can be seen and reached; false for NaN.
bool sensible(const Rect& part) {
    return part.x > -1 && part.x < 1 && part.y >= 0 && part.y < 1 && part.width > 0 &&
           part.width < 4 && part.height > 0 && part.height < 4;
}

}  // namespace

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

Rect place_of(std::string_view panel, const Room& room, const MovedPanels& moved) {
    const Rect centre{room.width * 0.3f, room.height * 0.2f, room.width * 0.4f, room.height * 0.5f};
    Rect place = default_place(panel, room).value_or(centre);
    if (const auto found = moved.find(panel); found != moved.end()) {
        const Rect& part = found->second;
        const float height = room.height - room.top;
        place = {part.x * room.width, room.top + part.y * height, part.width * room.width,
                 part.height * height};
    }
    place.width = std::max(place.width, least_width * room.scale);
    place.height = std::max(place.height, least_height * room.scale);
    return place;
}

void note_place(const std::string& panel, const Rect& place, const Room& room, MovedPanels& moved) {
    const float height = room.height - room.top;
    if (!(room.width > 0 && height > 0) || near(place, place_of(panel, room, moved))) return;
    const Rect part{place.x / room.width, (place.y - room.top) / height, place.width / room.width,
                    place.height / height};
    moved[panel] = {part.x, std::max(part.y, 0.0f), part.width, part.height};
}

std::string layout_text(const Layout& layout) {
    std::ostringstream text;
    text << "theme " << (layout.dark ? "dark" : "light") << "\n";
    for (const auto& [panel, open] : layout.visible) {
        text << (open ? "open " : "closed ") << panel << "\n";
    }
    for (const auto& [panel, part] : layout.moved) {
        text << "at " << panel << " " << part.x << " " << part.y << " " << part.width << " "
             << part.height << "\n";
    }
    return text.str();
}

Layout read_layout(const std::string& text) {
    Layout layout;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what, name;
        if (!(words >> what >> name)) continue;
        if (what == "theme") layout.dark = name != "light";
        if (what == "open" || what == "closed") layout.visible[name] = what == "open";
        Rect part{};
        if (what == "at" && words >> part.x >> part.y >> part.width >> part.height &&
            sensible(part)) {
            layout.moved[name] = part;
        }
    }
    return layout;
}

}  // namespace kvtape
