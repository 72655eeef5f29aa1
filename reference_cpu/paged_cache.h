// The paged cache (Kwon et al. 2023, arXiv 2309.06180): storage is cut into blocks of B positions,
// and a sequence owns a *block table*: the i-th entry names the block that holds its positions [i
// B, (i + 1) B). Blocks are taken when they are needed and need not lie next to each other, so a
// sequence wastes less than one block, and two sequences can point at the same one.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/layout.h"
#include "reference_cpu/block_pool.h"
#include "reference_cpu/kv_cache.h"
#include "reference_cpu/kv_storage.h"

namespace kvtape {

class PagedCache : public KvCache {
  public:
    // A pool of `blocks` blocks of `block_size` positions. Throws Error unless both are positive
    // and the pool's bytes can be counted in 62 bits, std::bad_alloc if the system has not so many.
    PagedCache(const ModelShape& shape, KvDtype dtype, std::int64_t block_size, std::int64_t blocks,
               float scale = 1);

    // The order in which the pool hands out its free blocks, as after a time of use.
    void shuffle_free_blocks(std::uint64_t seed) { pool_.shuffle_free_blocks(seed); }

    Lane lane() const override;
    std::int64_t length(SequenceId sequence) const override;
    void check_room(std::span<const Reservation> wanted) const override;
    void reserve(SequenceId sequence, std::int64_t end) override;
    void commit(SequenceId sequence, std::int64_t end) override;
    void release(SequenceId sequence) override;
    // Shares every block that holds rows. The first of the two that writes into the shared last
    // block gets a copy.
    void fork(SequenceId source, SequenceId target) override;
    std::int64_t bytes_held() const override;
    std::vector<PoolEvent> take_pool_events() override { return pool_.take_events(); }

    const PagedLayout& layout() const { return layout_; }
    const BlockPool& pool() const { return pool_; }
    // Free blocks that reserving all of these takes, copies of shared blocks included.
    std::int64_t blocks_needed(std::span<const Reservation> wanted) const;
    // The blocks of a sequence in the order of its positions; empty for a sequence never seen.
    std::span<const std::int64_t> block_table(SequenceId sequence) const;

  protected:
    Place place(const RowKey& key, std::int64_t position) override;

  private:
    struct Table {
        std::vector<std::int64_t> blocks;
        std::int64_t length = 0;
    };

    // What reserving for a sequence changes in its table.
    struct Growth {
        std::int64_t new_blocks;
        // Of a block that is about to be written and that others share.
        std::optional<std::size_t> copied_entry;
    };

    Growth growth(SequenceId sequence, std::int64_t end) const;
    Table& table(SequenceId sequence);
    void copy_block(std::int64_t from, std::int64_t to);

    PagedLayout layout_;
    KvStorage storage_;  // first: too large a pool is refused here, before memory is written to
    BlockPool pool_;
    std::map<SequenceId, Table> tables_;
};

}  // namespace kvtape
