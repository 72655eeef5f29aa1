// Who holds which block, followed from the events and writes of a tape.
//
// A paged sequence has a block table: its positions [i B, (i + 1) B) lie in block table[i]. A lane
// that is not paged is treated as if each sequence had one block of endless size, named after it,
// so that those who ask (playback, verify) need one way of thinking only.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tracer/step.h"

namespace kvtape {

// What an event or a write meant for the block at `index` of a sequence's table.
struct BlockChange {
    enum class What : std::uint8_t {
        hold_begins,    // the sequence holds the block; its rows are empty if nobody held it before
        revived,        // the same, but what was last in the block counts
        hold_ends,      // when the last holder goes, the block is empty
        rows_saved,     // the block's rows are set aside under (sequence, index), to be copied
        rows_restored,  // what was set aside under (sequence, index) is now in the block
    };
    What what;
    std::int32_t sequence;
    std::int64_t index;
    std::int64_t block;
};
using BlockChanges = std::vector<BlockChange>;

// Whether an event belongs after the pass of its step; see PoolEvent.
bool after_pass(const PoolEvent& event, const Step& step);

// Whether both wrote rows of the same sequence, layer, KV head and kind.
bool same_track(const WriteRun& a, const WriteRun& b);

class BlockTables {
  public:
    explicit BlockTables(const Lane& lane);

    // What follows from a pool event, in order.
    BlockChanges apply(const PoolEvent& event);
    // Rows were written: whatever the table did not say before, it says now. A position has the
    // same slot in every layer, KV head and kind, so one track of each sequence tells enough.
    BlockChanges note(const WriteRun& run);
    // All sequences let go of everything, as a lane without a cache does before each step.
    BlockChanges forget_all();

    bool paged() const { return paged_; }
    std::int64_t block_size() const { return block_size_; }  // B

    // The block at `index` of the sequence's table, or -1.
    std::int64_t block(std::int32_t sequence, std::int64_t index) const;
    std::int64_t holders(std::int64_t block) const;

  private:
    using Table = std::map<std::int64_t, std::int64_t>;  // index -> block

    void hold(std::int32_t sequence, std::int64_t index, std::int64_t block, BlockChange::What what,
              BlockChanges& changes);
    void drop(std::int32_t sequence, std::int64_t index, BlockChanges& changes);
    void drop_all(std::int32_t sequence, BlockChanges& changes);
    void append(const PoolEvent& event, BlockChange::What what, BlockChanges& changes);
    void copy_on_write(const PoolEvent& event, BlockChanges& changes);
    void swap_out(const PoolEvent& event, BlockChanges& changes);
    void swap_in(const PoolEvent& event, BlockChanges& changes);
    std::int64_t index_of(std::int32_t sequence, std::int64_t block) const;
    bool others_hold(std::int64_t block, std::int32_t sequence) const;

    bool paged_;
    std::int64_t block_size_;
    std::map<std::int32_t, Table> tables_;                                  // by sequence
    std::map<std::int64_t, std::map<std::int32_t, std::int64_t>> holders_;  // block -> (who, index)
    std::map<std::int32_t, std::vector<std::int64_t>> swapped_out_;         // indices, by sequence
};

}  // namespace kvtape
