// The pool of blocks that all sequences of a paged cache draw from: a free list and a reference
// count per block. It knows nothing of rows or tokens.
#pragma once

#include <cstdint>
#include <vector>

#include "tracer/step.h"

namespace kvtape {

class BlockPool {
  public:
    // Throws Error unless blocks >= 1.
    explicit BlockPool(std::int64_t blocks);

    std::int64_t blocks() const { return static_cast<std::int64_t>(references_.size()); }
    std::int64_t free_blocks() const { return static_cast<std::int64_t>(free_.size()); }
    std::int64_t references(std::int64_t block) const;

    // Takes a free block for `sequence`, with one reference. Throws Error when none is free.
    // A block freed last is taken first, because its memory is most likely still in the CPU's
    // cache.
    std::int64_t allocate(std::int32_t sequence);

    // Puts the free blocks in an order as in a pool that has served many sequences: a fresh one
    // hands its blocks out from 0 up, and then a block table hardly shows what it is for.
    void shuffle_free_blocks(std::uint64_t seed);

    // One more owner.
    void share(std::int64_t block, std::int32_t sequence);

    // One owner fewer; the last one returns the block to the free list. Freeing a free block is an
    // Error that changes nothing: two owners would later write the same page.
    void free(std::int64_t block, std::int32_t sequence);

    // `sequence` is about to write into a block that it shares: it gives up its reference and gets
    // a free block instead. Copying the rows is the caller's part. Throws Error when none is free.
    std::int64_t replace_shared(std::int64_t shared, std::int32_t sequence);

    // Everything that happened since the last call, refused frees included.
    std::vector<PoolEvent> take_events();

  private:
    std::int64_t take(std::int32_t sequence);
    void check_range(std::int64_t block) const;

    std::vector<std::int64_t> references_;  // (blocks), 0 = free
    std::vector<std::int64_t> free_;        // a stack, top is taken next
    std::vector<PoolEvent> events_;
};

}  // namespace kvtape
