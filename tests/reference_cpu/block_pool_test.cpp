// The pool of blocks: reference counts, the free list, and what it refuses.
#include "reference_cpu/block_pool.h"

#include <gtest/gtest.h>

#include <set>

#include "core/check.h"

namespace kvtape {
namespace {

std::vector<PoolEventKind> kinds(const std::vector<PoolEvent>& events) {
    std::vector<PoolEventKind> result;
    for (const PoolEvent& event : events) result.push_back(event.kind);
    return result;
}

TEST(BlockPool, RefusesToBeEmpty) {
    EXPECT_THROW(BlockPool(0), Error);
    EXPECT_THROW(BlockPool(-1), Error);
}

TEST(BlockPool, HandsOutEachBlockOnceAndThenNone) {
    BlockPool pool(5);
    std::set<std::int64_t> blocks;
    for (int i = 0; i < 5; ++i) {
        const std::int64_t block = pool.allocate(i);
        EXPECT_GE(block, 0);
        EXPECT_LT(block, 5);
        EXPECT_EQ(pool.references(block), 1);
        EXPECT_TRUE(blocks.insert(block).second);
    }
    EXPECT_EQ(pool.free_blocks(), 0);
    EXPECT_THROW(pool.allocate(9), Error);
    EXPECT_EQ(pool.take_events().size(), 5u);  // a refused allocation leaves no trace
}

// As a pool in use does; the same seed gives the same order everywhere.
TEST(BlockPool, HandsOutShuffledBlocksOnceEach) {
    const auto order = [](std::uint64_t seed) {
        BlockPool pool(64);
        pool.shuffle_free_blocks(seed);
        std::vector<std::int64_t> blocks;
        for (int i = 0; i < 64; ++i) blocks.push_back(pool.allocate(0));
        EXPECT_EQ(pool.free_blocks(), 0);
        return blocks;
    };
    const std::vector<std::int64_t> blocks = order(1);
    EXPECT_EQ(std::set<std::int64_t>(blocks.begin(), blocks.end()).size(), 64u);
    EXPECT_EQ(order(1), blocks);
    EXPECT_NE(order(2), blocks);
    int neighbours = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) neighbours += blocks[i] == blocks[i - 1] + 1;
    EXPECT_LT(neighbours, 8);
}

TEST(BlockPool, TakesTheBlockFreedLastFirst) {
    BlockPool pool(4);
    for (int i = 0; i < 4; ++i) pool.allocate(0);
    for (const std::int64_t block : {2, 0, 3}) pool.free(block, 0);
    EXPECT_EQ(pool.allocate(0), 3);
    EXPECT_EQ(pool.allocate(0), 0);
    EXPECT_EQ(pool.allocate(0), 2);
}

// PC-PG-05
TEST(BlockPool, RefusesToFreeABlockTwice) {
    BlockPool pool(3);
    const std::int64_t a = pool.allocate(7);
    pool.free(a, 7);
    EXPECT_THROW(pool.free(a, 7), Error);
    EXPECT_EQ(pool.free_blocks(), 3);
    const std::vector<PoolEvent> events = pool.take_events();
    EXPECT_EQ(kinds(events),
              (std::vector<PoolEventKind>{PoolEventKind::allocate, PoolEventKind::free,
                                          PoolEventKind::free_refused}));
    EXPECT_EQ(events.back().block, a);
    EXPECT_EQ(events.back().sequence, 7);

    const std::set<std::int64_t> three = {pool.allocate(1), pool.allocate(2), pool.allocate(3)};
    EXPECT_EQ(three.size(), 3u);
    EXPECT_THROW(pool.allocate(4), Error);
}

TEST(BlockPool, KeepsASharedBlockUntilItsLastOwnerIsGone) {
    BlockPool pool(1);
    const std::int64_t block = pool.allocate(1);
    pool.share(block, 2);
    pool.share(block, 3);
    EXPECT_EQ(pool.references(block), 3);
    pool.free(block, 1);
    pool.free(block, 3);
    EXPECT_EQ(pool.free_blocks(), 0);
    EXPECT_EQ(pool.references(block), 1);
    pool.free(block, 2);
    EXPECT_EQ(pool.free_blocks(), 1);
    EXPECT_THROW(pool.free(block, 2), Error);
    EXPECT_THROW(pool.share(block, 2),
                 ContractViolation);  // nobody's block has no owner to share with
}

TEST(BlockPool, KnowsItsBlocks) {
    BlockPool pool(2);
    EXPECT_THROW(pool.references(2), ContractViolation);
    EXPECT_THROW(pool.references(-1), ContractViolation);
    EXPECT_THROW(pool.free(2, 0), ContractViolation);
}

}  // namespace
}  // namespace kvtape
