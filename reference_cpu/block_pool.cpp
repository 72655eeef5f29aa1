#include "reference_cpu/block_pool.h"

#include <utility>

#include "core/check.h"
#include "core/random.h"

namespace kvtape {

BlockPool::BlockPool(std::int64_t blocks) {
    if (blocks < 1) fail("block pool: ", blocks, " blocks; use 1 or more");
    references_.assign(static_cast<std::size_t>(blocks), 0);
    // Block 0 on top: a fresh pool hands blocks out in order.
    for (std::int64_t block = blocks - 1; block >= 0; --block) free_.push_back(block);
}

void BlockPool::shuffle_free_blocks(std::uint64_t seed) {
    Random random(seed);
    for (std::size_t left = free_.size(); left > 1; --left) {
        std::swap(free_[left - 1], free_[random.below(left)]);
    }
}

std::int64_t BlockPool::references(std::int64_t block) const {
    check_range(block);
    return references_[static_cast<std::size_t>(block)];
}

std::int64_t BlockPool::take(std::int32_t sequence) {
    if (free_.empty()) {
        fail("block pool: no free block for sequence ", sequence, ", all ", blocks(),
             " are in use; use more blocks or fewer sequences");
    }
    const std::int64_t block = free_.back();
    free_.pop_back();
    references_[static_cast<std::size_t>(block)] = 1;
    return block;
}

std::int64_t BlockPool::allocate(std::int32_t sequence) {
    const std::int64_t block = take(sequence);
    events_.push_back({PoolEventKind::allocate, sequence, block, -1});
    return block;
}

std::int64_t BlockPool::replace_shared(std::int64_t shared, std::int32_t sequence) {
    KVTAPE_CHECK(references(shared), >, 1);
    const std::int64_t block = take(sequence);
    --references_[static_cast<std::size_t>(shared)];
    events_.push_back({PoolEventKind::copy_on_write, sequence, block, shared});
    return block;
}

void BlockPool::share(std::int64_t block, std::int32_t sequence) {
    KVTAPE_CHECK(references(block), >, 0);
    ++references_[static_cast<std::size_t>(block)];
    events_.push_back({PoolEventKind::share, sequence, block, -1});
}

void BlockPool::free(std::int64_t block, std::int32_t sequence) {
    if (references(block) == 0) {
        events_.push_back({PoolEventKind::free_refused, sequence, block, -1});
        fail("block pool: sequence ", sequence, " frees block ", block, ", which is free already");
    }
    if (--references_[static_cast<std::size_t>(block)] == 0) free_.push_back(block);
    events_.push_back({PoolEventKind::free, sequence, block, -1});
}

std::vector<PoolEvent> BlockPool::take_events() {
    return std::exchange(events_, {});
}

void BlockPool::check_range(std::int64_t block) const {
    KVTAPE_CHECK(block, >=, 0);
    KVTAPE_CHECK(block, <, blocks());
}

}  // namespace kvtape
