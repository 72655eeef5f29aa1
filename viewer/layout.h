// Where the panels stand when nobody has moved them.
#pragma once

#include <optional>
#include <string_view>

namespace kvtape {

struct Rect {
    float x, y, width, height;
};

struct Room {
    float width, height;  // of the window
    float top;            // what the menu takes
    float scale;
    bool guided;  // the guide is open and shares a column with the inspector
    bool live;    // the live panel is open; the events are closed
};

// The place of a panel; none if it is closed at first.
std::optional<Rect> default_place(std::string_view panel, const Room& room);

}  // namespace kvtape
