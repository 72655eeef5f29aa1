// The columns of the event list: which there are, how wide, and what stands in them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/event_search.h"

namespace kvtape {

struct EventColumn {
    enum class What { number, step, kind, track, positions, rows, more };
    What what;
    const char* title;
    const char* meaning;
    float x, width;  // in pixels, x from the left edge of the list
};

// As wide as the longest that a lane may have, so that columns stand still. Those that find no room
// are left out; the tooltip has all.
std::vector<EventColumn> fitting_columns(const LaneHistory& lane, float width);

std::string column_text(EventColumn::What what, std::int64_t number, const Event& event,
                        const EventText& text);

}  // namespace kvtape
