// From a cell of the cache to the events that touched it, and from an event to what it says.
//
// It knows no windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/lane_history.h"
#include "viewer/track_image.h"

namespace kvtape {

// The number of the event that wrote the row in `cell`, a cell of `track` as playback gives it;
// none if the cell is empty.
std::optional<std::int64_t> write_event(const LaneHistory& lane, const TrackId& track,
                                        const Cell& cell);

// The number of the first event of `step` in which the sequence reads its row at `position`.
std::optional<std::int64_t> read_event(const LaneHistory& lane, std::int64_t step,
                                       std::int32_t sequence, const TrackId& track,
                                       std::int64_t position);

// Whether the event wrote or read the row of the sequence.
bool touches(const LaneHistory& lane, const Event& event, std::int32_t sequence,
             const TrackId& track, std::int64_t position);

// The first row that an event wrote or read; none for pool events.
struct EventRow {
    std::int32_t sequence;
    TrackId track;
    std::int64_t position;
};
std::optional<EventRow> first_row(const LaneHistory& lane, const Event& event);

// An event in words, in parts for the columns of a table.
struct EventText {
    const char* what;       // "write", "read" or "pool"
    std::string track;      // "L0 h1 K"; empty for pool events
    std::string positions;  // written, or read: "0 to 200"
    std::string rows;       // written, or fetched
    std::string more;       // slots; queries and heads; what happened to which block
};
EventText event_text(const LaneHistory& lane, const Event& event);

}  // namespace kvtape
