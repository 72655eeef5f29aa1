// What the lessons ask of the tapes on show. Every number that the guide says comes from here.
//
// It knows no windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "viewer/guide_page.h"
#include "viewer/show.h"

namespace kvtape {

// One lane, as the story of the first sequence on it.
struct LaneFacts {
    std::size_t index = 0;  // into Show::lanes()
    const LaneHistory* history = nullptr;
    std::int32_t sequence = 0;
    std::int64_t prefill = 0;            // the first step of the sequence
    std::int64_t last_prefill = 0;       // the last before its first decode step
    std::optional<std::int64_t> decode;  // its first decode step
    std::int64_t last = 0;               // its last step
    std::int64_t prompt = 0;             // tokens that prefill computed

    const ModelShape& shape() const { return history->shape(); }
    const Costs& costs(std::int64_t step) const { return history->costs(step); }
    const std::string& name() const { return history->lane().name; }

    // Of the sequence, in this step or the last one before in which it took part.
    std::int64_t last_position(std::int64_t step) const;
    // Of all sequences.
    std::int64_t tokens(std::int64_t step) const;
    // The token at a position, in quotes.
    std::string token(std::int64_t position) const;
    Cell cell(std::int64_t step, const TrackId& track, std::int64_t position) const;
    std::int64_t bytes_per_token() const;

    CellId id(const TrackId& track, std::int64_t position) const {
        return {index, sequence, track, position};
    }
    // Whole columns.
    GuideCells column(std::int64_t position, std::int64_t positions = 1) const {
        return {index, 0, track_count(shape()), position, positions};
    }
    // Those that the decode steps from .. to appended.
    GuideCells columns_of(std::int64_t from, std::int64_t to) const;
};

struct TapeFacts {
    explicit TapeFacts(const Show& show);

    std::optional<LaneFacts> any;       // the lane that the lessons speak of: a cached one if
                                        // there is one, and one that decodes if there is one
    std::optional<LaneFacts> no_cache;  // the first of each kind that decodes
    std::optional<LaneFacts> cached;    // contiguous before paged
    std::optional<LaneFacts> paged;
};

// Tokens that both lanes picked, and how many of them are the same, with the same logit to the last
// bit.
struct EqualPicks {
    std::int64_t picked = 0, equal = 0;
};
EqualPicks equal_picks(const LaneHistory& a, const LaneHistory& b);
// The same as a sentence, with the likely reason if some differ.
std::string picks_text(const LaneFacts& a, const LaneFacts& b);

// FLOPs of the linear parts: projections and MLP.
std::int64_t linear_flops(const FlopCounts& flops);

}  // namespace kvtape
