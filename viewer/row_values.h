// The D numbers of one row of the cache, on tapes that have them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tracer/playback.h"
#include "viewer/lane_history.h"
#include "viewer/palette.h"
#include "viewer/track_image.h"

namespace kvtape {

// What the row of a filled cell held at the cell's moment. (D); empty if the tape does not tell.
std::vector<float> row_values(const LaneHistory& lane, const TrackId& track, const Cell& cell);

// Of the finite ones among some numbers; the others are counted.
struct ValueRange {
    float low = 0, high = 0;
    std::int64_t finite = 0, nan = 0, infinite = 0;

    float largest() const;  // |value|
    friend bool operator==(const ValueRange&, const ValueRange&) = default;
};
ValueRange value_range(std::span<const float> values /* (D) */);

// From `negative` at -largest over `empty` at 0 to `positive` at largest. What is not finite has a
// colour of its own.
Rgba value_colour(float value, float largest, const Palette& palette);

// How `count` numbers are laid out in rows and columns: so that a text of `text_width` x
// `text_height` fits beside each other in every place, or, where none do, in places that are about
// square.
struct ValueGrid {
    std::int64_t columns = 1, rows = 1;
    bool texts = false;
};
ValueGrid value_grid(std::int64_t count, double width, double height, double text_width,
                     double text_height);

}  // namespace kvtape
