// Block tables: when a block is taken, where a row goes, what is copied and what is refused.
#include "reference_cpu/paged_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <new>

#include "core/check.h"
#include "support/log_keys.h"
#include "support/peek.h"
#include "support/sanitized.h"
#include "support/tiny_models.h"
#include "support/transcript.h"

namespace kvtape {
namespace {

using testing::ElementsAre;

std::int64_t count(const std::vector<PoolEvent>& events, PoolEventKind kind) {
    return std::count_if(events.begin(), events.end(),
                         [&](const PoolEvent& event) { return event.kind == kind; });
}

std::int64_t blocks_in_use(const PagedCache& cache) {
    return cache.pool().blocks() - cache.pool().free_blocks();
}

TEST(PagedCache, RefusesSizesThatAreNotPositive) {
    EXPECT_THROW(PagedCache(tiny_llama, KvDtype::f32, 0, 4), Error);
    EXPECT_THROW(PagedCache(tiny_llama, KvDtype::f32, -2, 4), Error);
    EXPECT_THROW(PagedCache(tiny_llama, KvDtype::f32, 4, 0), Error);
}

// A pool that no machine has memory for is refused before any of it is written to, also the free
// list, which alone would be 1 GiB here: otherwise a typing error takes the machine's last page.
TEST(PagedCache, TouchesNoMemoryForAPoolThatIsTooLarge) {
    if (memory_is_sanitized) GTEST_SKIP() << "a sanitizer ends the program instead";
    const auto peak_kib = [] {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_maxrss;
    };
    constexpr ModelShape large{64, 64, 64, 64, 64, 64, 64};  // 2 MiB of K and V per f32 position
    const auto before = peak_kib();
    EXPECT_THROW(PagedCache(large, KvDtype::f32, 16, std::int64_t{1} << 26), std::bad_alloc);
    EXPECT_LT(peak_kib() - before, 100 << 10);
    EXPECT_THROW(PagedCache(large, KvDtype::f32, 16, std::int64_t{1} << 40), Error);
    EXPECT_THROW(PagedCache(large, KvDtype::f32, std::int64_t{1} << 60, 16), Error);
}

// PC-PG-01
TEST(PagedCache, TakesABlockExactlyAtTheBoundary) {
    for (const std::int64_t prompt : {3, 4, 5}) {
        PagedCache cache(log_key_shape, KvDtype::f32, 4, 8);
        std::int64_t position = 0;
        for (const std::int64_t chunk : prompt_then_steps(prompt + 6, prompt)) {
            const std::vector<float> answers = log_key_chunk(cache, chunk);
            std::int64_t boundaries = 0;  // positions of this pass that begin a block
            for (const float answer : answers) {
                boundaries += position % 4 == 0 ? 1 : 0;
                EXPECT_NEAR(answer, log_key_answer(position), 1e-6);
                ++position;
            }
            EXPECT_EQ(count(cache.take_pool_events(), PoolEventKind::allocate), boundaries)
                << "prompt " << prompt << ", " << position << " positions written";
            EXPECT_EQ(std::ssize(cache.block_table(0)), (position + 3) / 4);
            EXPECT_EQ(blocks_in_use(cache), (position + 3) / 4);
        }
    }
}

// PC-PG-02
TEST(PagedCache, GrowsByTheDifferenceAndRefusesWithNothingChanged) {
    Peek<PagedCache> cache(log_key_shape, KvDtype::f32, 16, 14);
    log_key_chunk(cache, 16, /*sequence=*/2);  // the neighbour holds one block, 13 are left
    const auto neighbour = cache.codes({2, 0, 0, Kind::key}, 15);

    cache.reserve(1, 100);
    EXPECT_EQ(cache.block_table(1).size(), 7u);
    EXPECT_EQ(cache.pool().free_blocks(), 13 - 7);
    cache.reserve(1, 100);
    EXPECT_EQ(cache.block_table(1).size(), 7u);
    cache.reserve(1, 200);
    EXPECT_EQ(cache.block_table(1).size(), 13u);
    EXPECT_EQ(cache.pool().free_blocks(), 0);
    const std::vector<std::int64_t> before(cache.block_table(1).begin(),
                                           cache.block_table(1).end());
    cache.take_pool_events();

    EXPECT_THROW(cache.reserve(1, 209), Error);  // 14 blocks
    EXPECT_THAT(cache.block_table(1), testing::ElementsAreArray(before));
    EXPECT_THROW(cache.reserve(3, 1), Error);  // a sequence that is new gets nothing either
    EXPECT_TRUE(cache.block_table(3).empty());
    EXPECT_TRUE(cache.take_pool_events().empty());
    EXPECT_EQ(cache.codes({2, 0, 0, Kind::key}, 15), neighbour);
}

// PC-PG-04: the block size belongs to the layout that numbers the slots.
TEST(PagedCache, DecodesSlotsWithItsOwnBlockSize) {
    const PagedLayout of_16{1, 5000, 1, 16, 2}, of_4{1, 5000, 1, 4, 2};
    EXPECT_EQ(of_16.block_slot(75849), (BlockSlot{4740, 9}));
    EXPECT_EQ(of_4.block_slot(13), (BlockSlot{3, 1}));

    Peek<PagedCache> cache(log_key_shape, KvDtype::f32, 4, 3);
    log_key_chunk(cache, 10);
    for (std::int64_t position = 0; position < 10; ++position) {
        const std::int64_t slot = cache.slot({0, 0, 0, Kind::value}, position);
        const BlockSlot at = cache.layout().block_slot(slot);
        EXPECT_EQ(at.block, cache.block_table(0)[static_cast<std::size_t>(position / 4)]);
        EXPECT_EQ(at.position_in_block, position % 4);
    }
}

// A cache whose next blocks are 5, 2, 7, 0: all eight are taken, and these come back last.
template <class Cache>
void take_all_but(Cache& cache, std::initializer_list<std::int64_t> last_to_first) {
    for (SequenceId s = 100; s < 108; ++s) cache.reserve(s, 1);
    for (const std::int64_t block : last_to_first) {
        cache.release(static_cast<SequenceId>(100 + block));
    }
}

// PC-PG-19
TEST(PagedCache, WritesEachChunkToItsOwnPartOfTheTable) {
    Peek<PagedCache> cache(log_key_shape, KvDtype::f32, 2, 8);
    take_all_but(cache, {0, 7, 2, 5});
    std::vector<float> answers = log_key_chunk(cache, 4);
    const RowKey key{0, 0, 0, Kind::key};
    std::vector<std::int64_t> slots;
    for (std::int64_t p = 0; p < 4; ++p) slots.push_back(cache.slot(key, p));
    EXPECT_THAT(slots, ElementsAre(10, 11, 4, 5));

    answers = log_key_chunk(cache, 4);
    EXPECT_THAT(cache.block_table(0), ElementsAre(5, 2, 7, 0));
    slots.clear();
    for (std::int64_t p = 4; p < 8; ++p) slots.push_back(cache.slot(key, p));
    EXPECT_THAT(slots, ElementsAre(14, 15, 0, 1));
    EXPECT_NEAR(answers.back(), 17.0 / 3, 1e-6);
}

// PC-PG-07
TEST(PagedCache, CopiesAPartlyFilledSharedBlockOnce) {
    constexpr SequenceId a = 1, b = 2;
    for (const bool a_writes_first : {true, false}) {
        PagedCache cache(log_key_shape, KvDtype::f32, 4, 4);
        log_key_chunk(cache, 6, a);
        const std::int64_t x = cache.block_table(a)[0], y = cache.block_table(a)[1];
        cache.fork(a, b);
        EXPECT_EQ(cache.pool().references(x), 2);
        EXPECT_EQ(cache.pool().references(y), 2);
        EXPECT_EQ(blocks_in_use(cache), 2);
        EXPECT_EQ(count(cache.take_pool_events(), PoolEventKind::share), 2);

        const auto append = [&](SequenceId sequence, float value) {
            cache.reserve(sequence, 7);
            store_log_key(cache, sequence, 6, 7, value);
            const float answer = attend_log_keys(cache, sequence, 6, 7);
            cache.commit(sequence, 7);
            return answer;
        };
        float answer_a = 0, answer_b = 0;
        if (a_writes_first) {
            answer_a = append(a, 7);
            answer_b = append(b, 70);
        } else {
            answer_b = append(b, 70);
            answer_a = append(a, 7);
        }
        EXPECT_NEAR(answer_a, 5, 1e-6);
        EXPECT_NEAR(answer_b, 20.75, 4e-6);
        EXPECT_NEAR(attend_log_keys(cache, a, 6, 7), 5, 1e-6);  // and stays so

        const SequenceId first = a_writes_first ? a : b, second = a_writes_first ? b : a;
        const std::int64_t z = cache.block_table(first)[1];
        EXPECT_NE(z, y);
        EXPECT_THAT(cache.block_table(first), ElementsAre(x, z));
        EXPECT_THAT(cache.block_table(second), ElementsAre(x, y));
        EXPECT_EQ(cache.pool().references(x), 2);
        EXPECT_EQ(cache.pool().references(y), 1);
        EXPECT_EQ(cache.pool().references(z), 1);
        const auto events = cache.take_pool_events();
        EXPECT_EQ(count(events, PoolEventKind::copy_on_write), 1);

        cache.release(a);
        cache.release(b);
        EXPECT_EQ(cache.pool().free_blocks(), 4);
        EXPECT_EQ(cache.bytes_held(), 0);
    }
}

// All KV heads, layers, K and V of a copied block, not just its first rows.
TEST(PagedCache, CopiesEveryRowOfASharedBlock) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto tokens = random_tokens(9, tiny_llama.vocab, 3);
    auto other = tokens;
    other[7] ^= 1;
    Team team(1);
    for (const KvDtype dtype : all_kv_dtypes) {
        PagedCache cache(tiny_llama, dtype, 4, 8);
        feed_one(model, cache, team, {tokens.begin(), tokens.begin() + 6}, {6}, 1);
        cache.fork(1, 2);
        const auto rest = [&](const std::vector<std::int32_t>& all, SequenceId sequence) {
            NullTracer tracer;
            return forward(model, {{sequence, 6, std::span(all).subspan(6), 3}}, cache, tracer,
                           team)
                .logits;
        };
        const auto of_2 = rest(other, 2);
        const auto of_1 = rest(tokens, 1);
        const auto fresh = [&](const std::vector<std::int32_t>& all) {
            PagedCache own(tiny_llama, dtype, 4, 8);
            const auto logits = feed_one(model, own, team, all, {9}).logits;
            return std::vector<float>(logits.end() - 3 * tiny_llama.vocab, logits.end());
        };
        EXPECT_EQ(of_1, fresh(tokens)) << name(dtype);
        EXPECT_EQ(of_2, fresh(other)) << name(dtype);
    }
}

// A copy needs a free block too: without one the pass is refused and both sequences are as before.
TEST(PagedCache, RefusesACopyWithoutAFreeBlock) {
    PagedCache cache(log_key_shape, KvDtype::f32, 4, 2);
    log_key_chunk(cache, 6, 1);
    cache.fork(1, 2);
    EXPECT_THROW(cache.reserve(2, 7), Error);
    EXPECT_THAT(cache.block_table(2), testing::ElementsAreArray(cache.block_table(1)));
    cache.release(1);
    EXPECT_NO_THROW(cache.reserve(2, 7));  // now the block is its own
}

// Of three owners that write into the block they share, two copy it; the last one keeps it. That is
// also what is counted before anything is taken.
TEST(PagedCache, CountsTheCopiesThatABatchNeeds) {
    for (const std::int64_t blocks : {3, 4}) {
        PagedCache cache(log_key_shape, KvDtype::f32, 4, blocks);
        log_key_chunk(cache, 6, 1);
        cache.fork(1, 2);
        cache.fork(1, 3);
        cache.take_pool_events();
        const std::vector<Reservation> two = {{1, 7}, {3, 8}}, three = {{1, 7}, {2, 7}, {3, 8}};
        EXPECT_EQ(cache.blocks_needed(two), 2);
        EXPECT_EQ(cache.blocks_needed(three), 2);
        EXPECT_EQ(cache.blocks_needed(std::vector<Reservation>{{1, 6}, {2, 9}, {9, 4}}), 3);
        if (blocks == 3) {
            EXPECT_THROW(cache.reserve_all(three), Error);
            EXPECT_TRUE(cache.take_pool_events().empty());
        } else {
            cache.reserve_all(three);
            EXPECT_EQ(count(cache.take_pool_events(), PoolEventKind::copy_on_write), 2);
            EXPECT_EQ(cache.pool().free_blocks(), 0);
        }
    }
}

// Blocks that were reserved for a pass that never came hold no rows: a fork has no share in them,
// or both sequences would later write the same block.
TEST(PagedCache, ForksOnlyWhatIsWritten) {
    PagedCache cache(log_key_shape, KvDtype::f32, 4, 8);
    log_key_chunk(cache, 4, 1);
    cache.reserve(1, 12);
    cache.fork(1, 2);
    log_key_chunk(cache, 8, 1);
    log_key_chunk(cache, 8, 2);
    for (std::size_t i = 1; i < 3; ++i) {
        EXPECT_NE(cache.block_table(1)[i], cache.block_table(2)[i]) << "block " << i;
    }
    EXPECT_EQ(cache.block_table(1)[0], cache.block_table(2)[0]);
}

TEST(PagedCache, RefusesToForkOntoASequenceThatExists) {
    PagedCache cache(log_key_shape, KvDtype::f32, 4, 4);
    log_key_chunk(cache, 2, 1);
    log_key_chunk(cache, 2, 2);
    EXPECT_THROW(cache.fork(1, 2), Error);
    EXPECT_THROW(cache.fork(9, 3), Error);  // nothing to fork from
    EXPECT_EQ(blocks_in_use(cache), 2);
}

}  // namespace
}  // namespace kvtape
