// A page of the guide: what it says, what it points at, and where it moves the playhead.
//
// It knows no windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/number_text.h"
#include "viewer/viewer.h"

namespace kvtape {

// Cells of one lane's grid, with a frame around them.
struct GuideCells {
    std::size_t lane = 0;
    std::int64_t first_track = 0, tracks = 0;
    std::int64_t first_position = 0, positions = 0;
};

// Plays all of the steps from .. to; at speed 0, jumps to the end of `to`.
struct GuideMove {
    std::int64_t from = 0, to = 0;
    double steps_per_second = 0;
};

struct GuidePage {
    std::string title;
    std::string text;   // paragraphs end in "\n"; [words] of the glossary stand in brackets
    std::string panel;  // with a frame around it; "" = none
    std::vector<GuideCells> cells;
    GridView grid;  // how the grid is looked at; its sequence is the one shown
    std::optional<CellId> selected;
    std::optional<std::int64_t> event;  // marked in the event list, of lane `event_lane`
    std::size_t event_lane = 0;
    std::optional<GuideMove> move;
    bool lacks_something = false;  // the tape on show has not what the page is about: text says so
};

inline std::string said(const std::string& text) {
    return text;
}
inline std::string said(const char* text) {
    return text;
}
inline std::string said(std::int64_t number) {
    return with_commas(number);
}
inline std::string said(int number) {
    return with_commas(number);
}

// All parts one after another, numbers with commas.
template <class... Parts>
std::string say(const Parts&... parts) {
    return (said(parts) + ...);
}

}  // namespace kvtape
