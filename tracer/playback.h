// What is in the cache at any step of a tape: the model behind the viewers. It knows no windows.
//
// The steps of one lane are added once, in order, and may be asked about in any order afterwards.
// Rows are never stored one by one: what is kept are the runs, those of decoding joined to
// stretches (tracer/track.h), and the times at which sequences held blocks. A question costs time
// in proportion to the cells asked for and the stretches of the track; memory grows with the
// stretches, up to a limit.
//
// Time: "at step s" is while step s runs, after it wrote and while it reads. A block that a
// sequence frees because it finished in step s is empty from step s + 1 on; a block taken away
// before the pass is empty at step s already (see PoolEvent).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tracer/block_history.h"
#include "tracer/block_tables.h"
#include "tracer/step.h"
#include "tracer/tape_limits.h"
#include "tracer/tape_reader.h"
#include "tracer/track.h"

namespace kvtape {

// One row of the cache at one step.
struct Cell {
    bool filled = false;         // if not, the rest means nothing
    std::int32_t sequence = -1;  // who wrote the row
    std::int64_t position = -1;  // the token it belongs to
    std::int64_t slot = -1;  // where it lies; where lanes are not paged, in the sequence's cache
    std::int64_t written_step = -1;
    Phase written_phase = Phase::prefill;
    std::int64_t times_read = 0;     // by query heads, since it is there, this step included
    std::int64_t times_fetched = 0;  // from storage: once per group of heads that shares a fetch
    std::int64_t read_now = 0;       // by query heads, in this step
    bool written_now = false;        // in this step

    friend bool operator==(const Cell&, const Cell&) = default;
};

class Playback {
  public:
    // An empty history of header.lanes[lane], which will not keep more than `most_stretches`.
    Playback(const TapeHeader& header, std::int32_t lane,
             std::int64_t most_stretches = max_stretches);

    // Adds the next step; steps of other lanes are ignored. Throws Error, and stays as it was, if
    // the step is not valid as in tracer/step_check.h or has more runs than may still be kept.
    void add(const Step& step);

    std::int64_t steps() const { return static_cast<std::int64_t>(phases_.size()); }
    Phase phase(std::int64_t step) const { return phases_[static_cast<std::size_t>(step)]; }

    // The rows of `sequence` at positions position_begin, position_begin + 1, ... as the sequence
    // sees them: through its block table, shared and copied blocks included. The counts are of
    // reads by this sequence.
    void cells(std::int64_t step, std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
               Kind kind, std::int64_t position_begin, std::span<Cell> out) const;
    Cell cell(std::int64_t step, std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
              Kind kind, std::int64_t position) const;

    // Tracks of one sequence with equal fingerprints have had the same runs in the same steps, so
    // that cells() says the same of all of them. (64 bits of a hash: chance equality is one in
    // 10^19.)
    std::uint64_t fingerprint(std::int32_t sequence, std::int32_t layer, std::int32_t kv_head,
                              Kind kind) const;

    // The rows in slots slot_begin, slot_begin + 1, ... of the pool, for paged lanes only. The
    // counts are of reads by all sequences that held the block since the row is there.
    void slots(std::int64_t step, std::int32_t layer, std::int32_t kv_head, Kind kind,
               std::int64_t slot_begin, std::span<Cell> out) const;

    // The block table of `sequence`: index -> block. For paged lanes only.
    std::map<std::int64_t, std::int64_t> block_table(std::int64_t step,
                                                     std::int32_t sequence) const;

    // The sequences that hold `block`, ascending. For paged lanes only.
    std::vector<std::int32_t> holders(std::int64_t step, std::int64_t block) const;

    // The sequences that hold storage, ascending.
    std::vector<std::int32_t> sequences(std::int64_t step) const;

    // Rows stored, over all sequences, layers, KV heads and kinds; a row in a shared block once.
    std::int64_t rows_in_cache(std::int64_t step) const;

  private:
    using Hold = BlockHistory::Hold;
    using Life = BlockHistory::Life;
    struct Where {  // a track, of whatever sequence
        std::int32_t layer, kv_head;
        Kind kind;
        friend auto operator<=>(const Where&, const Where&) = default;
    };

    void add_accesses(const Step& step, std::int64_t now);
    const Track* track(std::int32_t sequence, Where where) const;
    template <class Visit>
    void for_each_write(const Life& life, std::int64_t last_step, Where where,
                        const Visit& visit) const;
    void paint(const Life& life, std::int64_t step, Where where, std::int64_t offset,
               std::span<Cell> out) const;
    void count_reads(const Hold& hold, std::int64_t step, Where where, std::int64_t offset,
                     std::span<Cell> out) const;
    std::int64_t rows_in(const Life& life, std::int64_t step, Where where) const;

    TapeHeader header_;
    std::int32_t lane_;
    std::int64_t most_stretches_;
    std::vector<Phase> phases_;                               // (steps)
    std::map<std::pair<std::int32_t, Where>, Track> tracks_;  // by sequence first
    std::int64_t stretches_ = 0;                              // of all tracks
    BlockTables tables_;                                      // after the last step added
    BlockHistory history_;
};

// Reads the rest of the tape and returns the history of one lane. An incomplete tape gives the
// steps that it has.
Playback load_playback(TapeReader& reader, std::int32_t lane);

}  // namespace kvtape
