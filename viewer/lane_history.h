// One lane of a tape, ready to be drawn at any step: the steps themselves, what is in the cache
// (tracer/playback.h), running sums of the costs, and the text of every token.
//
// It knows no windows. Nothing in it is computed while a frame is drawn.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tracer/playback.h"
#include "tracer/step.h"

namespace kvtape {

// Costs of one step, or of many.
struct Costs {
    FlopCounts flops;        // as the kernels counted them
    FlopCounts closed_form;  // as they must be: tracer/cost_model.h
    std::int64_t rows_written = 0;
    std::int64_t rows_read = 0;     // by query heads
    std::int64_t rows_fetched = 0;  // from storage, once per group of query heads
    std::int64_t kv_bytes_written = 0;
    std::int64_t kv_bytes_read = 0;
    std::int64_t closed_form_bytes_written = 0;
    std::int64_t closed_form_bytes_read = 0;
    std::int64_t wall_ns = 0;

    Costs& operator+=(const Costs& other);
};

// One line of the event list: a run of writes, a run of reads or a pool event.
struct Event {
    enum class Kind : std::uint8_t { write, read, pool };
    std::int64_t step;
    Kind kind;
    std::int64_t index;  // into Step::writes, reads or pool
};

class LaneHistory {
  public:
    LaneHistory(const TapeHeader& header, std::int32_t lane);

    // A picture has a pixel for each position.
    static constexpr std::int64_t most_positions = std::int64_t{1} << 24;

    // Steps of other lanes are ignored. Throws Error if the step is not valid.
    void add(Step step);

    const TapeHeader& header() const { return header_; }
    const ModelShape& shape() const { return header_.shape; }
    const Lane& lane() const { return header_.lanes[static_cast<std::size_t>(lane_)]; }
    const Playback& playback() const { return playback_; }

    std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }
    const Step& step(std::int64_t index) const { return steps_[static_cast<std::size_t>(index)]; }

    const Costs& costs(std::int64_t step) const { return costs_[static_cast<std::size_t>(step)]; }
    // Of steps 0 .. step.
    const Costs& costs_so_far(std::int64_t step) const {
        return sums_[static_cast<std::size_t>(step)];
    }

    // Whether the tape has the numbers of any row (viewer/row_values.h).
    bool has_row_values() const { return !listed_.empty(); }
    // What the tape last listed for this row in steps 0 .. step, or null. A row that is stored
    // again with the same bits is not listed again.
    const StoredRows* listed_row(std::int64_t step, std::int32_t sequence, std::int32_t layer,
                                 std::int32_t kv_head, Kind kind, std::int64_t position) const;

    // Sequences in the order in which they first appear.
    const std::vector<std::int32_t>& sequences() const { return sequences_; }
    // Positions of the sequence that any step ever wrote: [0, longest).
    std::int64_t longest(std::int32_t sequence) const;
    // Printable text of the token at `position`; "" if it was never fed.
    const std::string& text(std::int32_t sequence, std::int64_t position) const;
    // The span of the sequence in a step, or null if it took no part.
    const SpanRecord* span(std::int64_t step, std::int32_t sequence) const;

    // All events of steps 0 .. steps() - 1, in order, numbered from 0.
    std::int64_t events() const { return event_end_.empty() ? 0 : event_end_.back(); }
    Event event(std::int64_t number) const;
    std::int64_t first_event(std::int64_t step) const;

  private:
    TapeHeader header_;
    std::int32_t lane_;
    Playback playback_;
    std::vector<Step> steps_;
    std::vector<Costs> costs_, sums_;
    std::vector<std::int64_t> event_end_;  // (steps), events of the steps up to and with this one
    // Where in steps_[step].rows the rows of a (sequence, layer, KV head, kind) are, in the order
    // of time.
    struct Listing {
        std::int64_t step, position_begin, position_end;
        std::size_t index;
    };
    using ListedTrack = std::tuple<std::int32_t, std::int32_t, std::int32_t, Kind>;
    std::map<ListedTrack, std::vector<Listing>> listed_;
    std::vector<std::int32_t> sequences_;
    std::map<std::int32_t, std::vector<std::string>> texts_;  // by sequence, then position
};

}  // namespace kvtape
