// What is in the cache at any step of a tape: the model behind the viewers. It knows no windows.
//
// The steps of one lane are added once, in order, and may be asked about in any order afterwards.
// Rows are never stored one by one. A track (one sequence, layer, KV head, kind) keeps its writes
// and reads as *stretches*: a run, or a row of runs of neighbouring steps that advance by one
// position per step, which is what decoding does. Memory grows with the number of stretches, at
// most with the number of runs; a question costs O(cells asked for + stretches of the track).
//
// Time: "at step s" is while step s runs, after it wrote and while it reads. A block that a
// sequence frees because it finished in step s is empty from step s + 1 on; a block taken away
// before the pass is empty at step s already.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "tracer/step.h"
#include "tracer/tape_reader.h"

namespace kvtape {

// One row of the cache at one step.
struct Cell {
    bool filled = false;         // if not, the rest means nothing
    std::int32_t sequence = -1;  // who wrote the row
    std::int64_t position = -1;  // the token it belongs to
    std::int64_t slot = -1;  // where it lies; in lanes that are not paged, slots count per sequence
    std::int64_t written_step = -1;
    Phase written_phase = Phase::prefill;
    std::int64_t times_read = 0;     // by query heads, since it was written, this step included
    std::int64_t times_fetched = 0;  // from storage: once per group of heads that shares a fetch
    std::int64_t read_now = 0;       // by query heads, in this step
    bool written_now = false;        // in this step

    friend bool operator==(const Cell&, const Cell&) = default;
};

class PlaybackIndex;

class Playback {
  public:
    // An empty history of header.lanes[lane].
    Playback(const TapeHeader& header, std::int32_t lane);
    ~Playback();
    Playback(Playback&&) noexcept;
    Playback& operator=(Playback&&) noexcept;

    // Adds the next step; steps of other lanes are ignored. Throws Error if it is not valid as in
    // tracer/step_check.h.
    void add(const Step& step);

    std::int64_t steps() const;
    Phase phase(std::int64_t step) const;

    // The rows of `sequence` at positions position_begin, position_begin + 1, ... as the sequence
    // sees them: through its block table, shared and copied blocks included. A row's counts are the
    // reads by this sequence.
    void cells(std::int64_t step, std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
               Kind kind, std::int64_t position_begin, std::span<Cell> out) const;
    Cell cell(std::int64_t step, std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
              Kind kind, std::int64_t position) const;

    // Paged lanes only: the rows in slots slot_begin, slot_begin + 1, ... of the pool. A row's
    // counts are the reads by all sequences that hold its block.
    void slots(std::int64_t step, std::int32_t layer, std::int32_t kv_head, Kind kind,
               std::int64_t slot_begin, std::span<Cell> out) const;

    // The blocks of `sequence` at `step`, in the order of its positions (paged lanes).
    std::vector<std::int64_t> block_table(std::int64_t step, std::int32_t sequence) const;

    // The sequences that hold `block` at `step`.
    std::vector<std::int32_t> holders(std::int64_t step, std::int64_t block) const;

    // Rows stored at `step`, over all sequences, layers, KV heads and kinds; a shared row once.
    std::int64_t rows_in_cache(std::int64_t step) const;

  private:
    std::unique_ptr<PlaybackIndex> index_;
};

// Reads the rest of the tape and returns the history of one lane.
Playback load_playback(TapeReader& reader, std::int32_t lane);

}  // namespace kvtape
