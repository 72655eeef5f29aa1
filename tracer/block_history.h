// Who held which block when. tracer/block_tables.h knows the present; this keeps the past, so that
// any step can be asked about.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tracer/block_tables.h"

namespace kvtape {

class BlockHistory {
  public:
    static constexpr std::int64_t never = INT64_MAX;

    // A sequence had a block at `index` of its table in steps [from, to).
    struct Hold {
        std::int32_t sequence;
        std::int64_t index;
        std::size_t life;
        std::int64_t from;
        std::int64_t to;
    };

    // The rows that some life of a block had at the end of step `step`.
    struct Origin {
        std::size_t life;
        std::int64_t step;
    };

    // A block was held by someone in steps [from, to). It began empty, or with the rows of
    // `origin`, an older life.
    struct Life {
        std::int64_t block;
        std::int64_t from;
        std::int64_t to = never;
        std::optional<Origin> origin = {};
        std::vector<std::size_t> holds = {};  // in the order of time
        std::int64_t open_holds = 0;
    };

    // Adds changes that take effect at `step`; steps do not go back.
    void follow(const BlockChanges& changes, std::int64_t step);

    // What was there at `step`, or null.
    const Life* life_at(std::int64_t step, std::int64_t block) const;
    const Hold* hold_at(std::int64_t step, std::int32_t sequence, std::int64_t index) const;

    const Life& life(std::size_t id) const { return lives_[id]; }
    const Hold& hold(std::size_t id) const { return holds_[id]; }

    std::vector<const Life*> lives_at(std::int64_t step) const;       // by block
    std::vector<std::int32_t> sequences_at(std::int64_t step) const;  // ascending
    std::map<std::int64_t, std::int64_t> table_at(std::int64_t step,
                                                  std::int32_t sequence) const;  // index -> block

  private:
    using Entry = std::pair<std::int32_t, std::int64_t>;  // (sequence, index)

    std::size_t open_life(std::int64_t block, bool revived, std::int64_t step);
    void begin_hold(Entry entry, std::size_t life, std::int64_t step);
    void end_hold(std::size_t hold, std::int64_t step);
    void fill_from(Origin origin, std::int64_t block, std::int64_t step);

    std::vector<Hold> holds_;
    std::vector<Life> lives_;
    std::map<Entry, std::vector<std::size_t>> holds_of_entry_;  // in the order of time
    std::map<std::int64_t, std::vector<std::size_t>> lives_of_block_;
    std::map<Entry, Origin> saved_;
};

}  // namespace kvtape
