// Blocks whose rows come from other blocks: histories end, and nobody's rows are replaced by those
// of somebody else.
#include "tracer/block_history.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

using What = BlockChange::What;

Lane paged_lane() {
    return {"paged", "cpu", "paged", KvDtype::f32, 1, 100};
}

// How many origins a life has, one behind the other. Each must be an older life, or the question
// would have no end.
int origins_of(const BlockHistory& history, std::int64_t step, std::int64_t block) {
    int origins = 0;
    const BlockHistory::Life* life = history.life_at(step, block);
    for (; life->origin; ++origins) {
        const BlockHistory::Life* origin = &history.life(life->origin->life);
        EXPECT_LT(origin, life);  // both lie in one array, in the order of time
        if (origin >= life) break;
        life = origin;
    }
    return origins;
}

// The rows of a block are set aside and come back into the same block, which another sequence holds
// all the time.
TEST(BlockHistory, ABlockIsNotItsOwnOrigin) {
    BlockHistory history;
    history.follow({{What::hold_begins, 0, 0, 5},
                    {What::hold_begins, 1, 0, 5},
                    {What::rows_saved, 1, 0, 5},
                    {What::hold_ends, 1, 0, 5},
                    {What::hold_begins, 1, 0, 5},
                    {What::rows_restored, 1, 0, 5}},
                   0);
    EXPECT_EQ(origins_of(history, 0, 5), 1);
    EXPECT_EQ(history.life_at(0, 5)->open_holds, 2);
}

// The rows of a younger block come into an older one, and the other way round.
TEST(BlockHistory, TwoBlocksAreNotTheOriginsOfEachOther) {
    BlockHistory history;
    history.follow({{What::hold_begins, 0, 0, 5},
                    {What::hold_begins, 1, 0, 7},
                    {What::rows_saved, 0, 0, 5},
                    {What::rows_saved, 1, 0, 7},
                    {What::rows_restored, 1, 0, 5},
                    {What::rows_restored, 0, 0, 7}},
                   0);
    EXPECT_GE(origins_of(history, 0, 5), 1);
    EXPECT_GE(origins_of(history, 0, 7), 1);
}

TEST(BlockTables, RowsComeBackIntoABlockOfTheirOwn) {
    BlockTables tables(paged_lane());
    tables.apply({PoolEventKind::allocate, 0, 5, -1});
    tables.apply({PoolEventKind::share, 1, 5, -1});
    tables.apply({PoolEventKind::swap_out, 1, 5, -1});
    tables.apply({PoolEventKind::allocate, 1, 5, -1});  // which sequence 0 holds
    EXPECT_TRUE(tables.apply({PoolEventKind::swap_in, 1, -1, -1}).empty());

    tables.apply({PoolEventKind::free, 0, 5, -1});
    const BlockChanges changes = tables.apply({PoolEventKind::swap_in, 1, -1, -1});
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].what, What::rows_restored);
}

TEST(BlockTables, NothingIsCopiedOverABlockOfOthers) {
    BlockTables tables(paged_lane());
    tables.apply({PoolEventKind::allocate, 0, 5, -1});
    tables.apply({PoolEventKind::share, 1, 5, -1});
    tables.apply({PoolEventKind::allocate, 2, 6, -1});
    EXPECT_TRUE(tables.apply({PoolEventKind::copy_on_write, 1, 6, 5}).empty());
    EXPECT_EQ(tables.block(1, 0), 5);
    tables.apply({PoolEventKind::copy_on_write, 1, 7, 5});
    EXPECT_EQ(tables.block(1, 0), 7);
}

}  // namespace
}  // namespace kvtape
