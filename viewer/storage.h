// What a lane has set aside for its cache at a step, and how much of it holds rows.
//
// A row is D numbers of one (layer, KV head, K or V); a slot has room for a row of each, 2 L G
// rows. A unit of storage is what is set aside in one piece: a block of B slots where the lane is
// paged; where it is contiguous, max_model_len slots for each sequence; without a cache there is
// none.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "viewer/lane_history.h"
#include "viewer/track_image.h"

namespace kvtape {

struct Unit {
    std::int64_t number;    // of the block; else sequences are counted from 0
    std::int32_t sequence;  // that holds it: the first of them
    std::int64_t index;     // in that sequence's block table: positions index * slots_of_unit, ...
    std::int64_t holders;   // sequences that hold it
};

struct Storage {
    // A sequence that holds units, and the positions for which there may be rows: [0, positions).
    struct Holder {
        std::int32_t sequence;
        std::int64_t positions;
    };

    bool paged = false;
    std::vector<Unit> units;  // by number
    std::vector<Holder> holders;
    std::int64_t units_in_all = 0;  // blocks of the pool; else the units there are
    std::int64_t slots_of_unit = 0;
    std::int64_t rows_of_slot = 0;
    std::int64_t rows_held = 0;  // a row in a shared block once
    // What each holder sees on one track, by sequence, then position.
    std::map<std::int32_t, std::vector<Cell>> cells;

    // Null if the block is free.
    const Unit* unit(std::int64_t number) const;
    std::int64_t held() const { return std::ssize(units); }
    std::int64_t free() const { return units_in_all - held(); }
    std::int64_t shared() const;  // units with more than one holder
    std::int64_t rows_set_aside() const { return held() * slots_of_unit * rows_of_slot; }
    std::int64_t rows_wasted() const { return rows_set_aside() - rows_held; }
};
// `track`: whose cells to keep.
Storage storage_at(const LaneHistory& lane, std::int64_t step, TrackId track);

}  // namespace kvtape
