// One step of one lane of a tape: what was computed, what lay in the cache, what was read and
// written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/json_values.h"
#include "tracer/playback.h"
#include "tracer/step.h"

namespace kvtape {

// Which of the many rows of a position are drawn; the others of the decoder look the same.
struct RowChoice {
    std::int32_t layer = 0;
    std::int32_t kv_head = 0;
    Kind kind = Kind::key;
};

class StepView {
  public:
    StepView(const TapeHeader& header, std::int32_t lane, std::int64_t at)
        : header_(header), lane_(lane), at_(at), playback_(header, lane) {}

    // Takes the steps of the tape, in order; those of other lanes are ignored.
    void add(const Step& step);

    std::int64_t steps() const { return playback_.steps(); }
    bool found() const { return step_.has_value(); }

    // Call when the step was found.
    std::string text(const RowChoice& choice) const;
    Json json(const RowChoice& choice) const;

  private:
    const Lane& lane() const { return header_.lanes[static_cast<std::size_t>(lane_)]; }
    // Positions that the sequence of `span` has after this step.
    std::vector<Cell> cells_of(const SpanRecord& span, const RowChoice& choice) const;
    // The block table of the span's sequence, in the order of positions; empty unless paged.
    std::vector<std::int64_t> blocks_of(const SpanRecord& span) const;
    // K and V bytes of all blocks that the span's sequence holds; 0 unless paged.
    std::int64_t whole_block_bytes(const SpanRecord& span) const;

    TapeHeader header_;
    std::int32_t lane_;
    std::int64_t at_;
    Playback playback_;
    std::optional<Step> step_;  // the one asked for
    // The tokens of each sequence up to that step, by position.
    std::map<std::int32_t, std::map<std::int64_t, TokenText>> tokens_;
};

}  // namespace kvtape
