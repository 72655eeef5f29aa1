// Where the panels stand: at their default places, or where the user has put them. It knows no
// windows.
#pragma once

#include <map>
#include <optional>
#include <string>
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
    friend bool operator==(const Room&, const Room&) = default;
};

// The place of a panel; none if it is closed at first.
std::optional<Rect> default_place(std::string_view panel, const Room& room);

// Of a panel, at scale 1: small, but its title is not cut.
inline constexpr float least_width = 160, least_height = 72;

// The panels that the user has moved, by name, as parts of the room: {0, 0, 1, 1} is all of it. So
// they keep their places in a window of another size. All others go where the defaults are.
using MovedPanels = std::map<std::string, Rect, std::less<>>;

Rect place_of(std::string_view panel, const Room& room, const MovedPanels& moved);
// The panel stands at `place`. It has been moved if that is not where place_of has it.
void note_place(const std::string& panel, const Rect& place, const Room& room, MovedPanels& moved);

// What is remembered from one session to the next.
struct Layout {
    MovedPanels moved;
    std::map<std::string, bool> visible;
    bool dark = true;
};
// As text, a line for each thing, and back. Lines that cannot be read are as if they were not
// there: other versions write other ones, and a layout is not worth an error.
std::string layout_text(const Layout& layout);
Layout read_layout(const std::string& text);

}  // namespace kvtape
