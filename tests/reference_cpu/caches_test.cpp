// What all caches promise alike: a row is read back from where it was put, rows that were never
// written are NaN and never read, a fork leaves its source alone, memory that is released is used
// again.
#include <gtest/gtest.h>

#include <memory>

#include "core/check.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/log_keys.h"
#include "support/peek.h"
#include "support/tiny_models.h"
#include "support/transcript.h"

namespace kvtape {
namespace {

using Caches = std::vector<std::unique_ptr<KvCache>>;

// Contiguous with exactly this capacity and with more; paged in several block sizes.
Caches caches_for(const ModelShape& shape, KvDtype dtype, std::int64_t capacity) {
    Caches caches;
    for (const std::int64_t extra : {0, 1, 7}) {
        caches.push_back(std::make_unique<ContiguousCache>(shape, dtype, capacity + extra));
        caches.push_back(std::make_unique<NoCache>(shape, dtype, capacity + extra));
    }
    for (const std::int64_t block_size : {1, 2, 3, 4, 16}) {
        caches.push_back(std::make_unique<PagedCache>(shape, dtype, block_size, 4 * capacity));
    }
    return caches;
}

// PC-PG-20: K(token t, head h, component i) = 100 t + 10 h + i comes back from its place, in all
// layers.
TEST(Caches, ReturnEveryRowFromItsPlace) {
    const ModelShape shape{2, 12, 3, 3, 4, 1, 1};
    for (const std::int64_t n : {1, 2, 3, 5}) {
        for (const auto& cache : caches_for(shape, KvDtype::f32, n)) {
            NullTracer::Worker nobody;
            KvView<NullTracer> view(*cache, nobody);
            const auto value = [](const RowKey& key, std::int64_t t, std::int64_t i) {
                const std::int64_t kind = key.kind == Kind::key ? 0 : 5000;
                return static_cast<float>(100 * t + 10 * key.kv_head + i + 1000 * key.layer + kind);
            };
            const auto for_all_keys = [](const auto& f) {
                for (std::int32_t layer = 0; layer < 2; ++layer) {
                    for (std::int32_t h = 0; h < 3; ++h) {
                        for (const Kind kind : {Kind::key, Kind::value})
                            f(RowKey{6, layer, h, kind});
                    }
                }
            };
            cache->reserve(6, n);
            for (std::int64_t t = 0; t < n; ++t) {
                for_all_keys([&](const RowKey& key) {
                    float row[4];
                    for (std::int64_t i = 0; i < 4; ++i) row[i] = value(key, t, i);
                    view.store(key, t, row);
                });
            }
            for_all_keys([&](const RowKey& key) {
                for (std::int64_t first = 0; first < n; ++first) {  // a fetch may begin anywhere
                    for (std::int64_t t = first; t < n;) {
                        const Rows rows = view.fetch(key, n - 1, t, n);
                        ASSERT_GE(rows.count, 1);
                        for (std::int64_t j = 0; j < rows.count; ++j, ++t) {
                            for (std::int64_t i = 0; i < 4; ++i) {
                                ASSERT_EQ(rows.data[j * 4 + i], value(key, t, i))
                                    << cache->lane().name << " B=" << cache->lane().block_size
                                    << ", token " << t << ", head " << key.kv_head;
                            }
                        }
                    }
                }
            });
        }
    }
}

// A fetch gives at most `attention_split` rows and none from `end` on, whatever the storage has.
TEST(Caches, FetchNoMoreThanAskedFor) {
    const ModelShape shape{1, 4, 1, 1, 4, 1, 1};
    for (const KvDtype dtype : all_kv_dtypes) {
        for (const std::int64_t block_size : {16, 64, 200}) {
            PagedCache cache(shape, dtype, block_size, 20);
            cache.reserve(0, 200);
            NullTracer::Worker nobody;
            KvView<NullTracer> view(cache, nobody);
            for (const auto& [first, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                     {0, 1}, {0, 64}, {0, 200}, {63, 65}, {10, 13}, {199, 200}}) {
                const std::int64_t together = block_size - first % block_size;
                EXPECT_EQ(view.fetch({0, 0, 0, Kind::key}, 199, first, end).count,
                          std::min({together, end - first, attention_split}));
            }
        }
    }
}

// PC-CU-05: storage starts as NaN, in every dtype, and what is beyond a sequence stays unread: one
// NaN that took part, even times zero, would make the answer NaN.
TEST(Caches, HoldNaNWhereNothingWasWritten) {
    for (const KvDtype dtype : all_kv_dtypes) {
        for (const auto& cache : caches_for(log_key_shape, dtype, 8)) {
            cache->reserve(3, 8);
            NullTracer::Worker nobody;
            KvView<NullTracer> view(*cache, nobody);
            for (const Kind kind : {Kind::key, Kind::value}) {
                for (std::int64_t p = 0; p < 8; ++p) {
                    const Rows rows = view.fetch({3, 0, 0, kind}, p, p, p + 1);
                    EXPECT_TRUE(std::isnan(rows.data[0]) && std::isnan(rows.data[1]))
                        << name(dtype);
                }
            }
        }
    }
}

TEST(Caches, NeverReadBeyondTheLength) {
    for (const std::int64_t n : {1, 3, 4, 5}) {
        for (const auto& cache : caches_for(log_key_shape, KvDtype::f32, n)) {
            cache->reserve(0, n);
            EXPECT_NEAR(log_key_chunk(*cache, n).back(), log_key_answer(n - 1), 1e-6)
                << cache->lane().name << " B=" << cache->lane().block_size;
        }
    }
}

TEST(Caches, CountPositionsPerSequence) {
    for (const auto& cache : caches_for(log_key_shape, KvDtype::f32, 8)) {
        const bool keeps = cache->lane().cache != "none";
        EXPECT_EQ(cache->length(5), 0);
        log_key_chunk(*cache, 3, 5, 0);
        log_key_chunk(*cache, 2, 7, 0);
        EXPECT_EQ(cache->length(5), keeps ? 3 : 0);
        EXPECT_EQ(cache->length(7), keeps ? 2 : 0);
        EXPECT_EQ(cache->bytes_held() > 0, keeps);
        cache->release(5);
        cache->release(5);  // releasing nobody is allowed: a request may be cancelled at any time
        EXPECT_EQ(cache->length(5), 0);
        EXPECT_EQ(cache->length(7), keeps ? 2 : 0);
        cache->release(7);
        EXPECT_EQ(cache->bytes_held(), 0);
    }
}

// No two live sequences share a slot, and slots that were released are used again.
TEST(Caches, NumberSlotsOfAllSequencesApart) {
    Peek<ContiguousCache> cache(log_key_shape, KvDtype::f32, 4);
    const RowKey of_1{1, 0, 0, Kind::key}, of_2{2, 0, 0, Kind::key}, of_3{3, 0, 0, Kind::key};
    log_key_chunk(cache, 4, 1);
    log_key_chunk(cache, 4, 2);
    EXPECT_EQ(cache.slot(of_1, 3), 3);
    EXPECT_EQ(cache.slot(of_2, 0), 4);
    cache.release(1);
    log_key_chunk(cache, 4, 3);
    EXPECT_EQ(cache.slot(of_3, 0), 0);
    EXPECT_EQ(cache.slot(of_2, 0), 4);
}

TEST(Caches, RefuseMoreThanTheirCapacity) {
    ContiguousCache contiguous(log_key_shape, KvDtype::f32, 4);
    EXPECT_THROW(contiguous.reserve(0, 5), Error);
    EXPECT_EQ(contiguous.bytes_held(), 0);
    log_key_chunk(contiguous, 4);
    EXPECT_THROW(contiguous.reserve(0, 5), Error);
    EXPECT_EQ(contiguous.length(0), 4);
    EXPECT_THROW(ContiguousCache(log_key_shape, KvDtype::f32, 0), Error);
    EXPECT_THROW(contiguous.commit(9, 1), Error);  // nobody
    EXPECT_THROW(contiguous.fork(9, 1), Error);
    EXPECT_THROW(contiguous.fork(0, 0), Error);
}

// A row beyond what a pass reserved is out of bounds, though there may be memory for it.
TEST(Caches, GiveNoPlaceBeyondWhatIsReserved) {
    Peek<ContiguousCache> contiguous(log_key_shape, KvDtype::f32, 8);
    Peek<PagedCache> paged(log_key_shape, KvDtype::f32, 2, 8);
    contiguous.reserve(0, 4);
    paged.reserve(0, 4);
    const RowKey key{0, 0, 0, Kind::key};
    EXPECT_NO_THROW(contiguous.slot(key, 3));
    EXPECT_NO_THROW(paged.slot(key, 3));
    EXPECT_THROW(contiguous.slot(key, 4), ContractViolation);
    EXPECT_THROW(paged.slot(key, 4), ContractViolation);
}

// PC-EQ-14: the prefix of 3 tokens is the same before, between and after the runs that start from
// it.
TEST(Caches, KeepAPrefixThatOthersStartFrom) {
    const Model<float> model = tiny_model(tiny_llama);
    const std::vector<std::int32_t> prefix = {3, 1, 4};
    const auto run = [&](KvCache& cache, Team& team, SequenceId sequence,
                         std::vector<std::int32_t> tokens, std::int64_t known) {
        // Feeds what the cache does not hold, then 5 greedy tokens, as a decoder would.
        std::vector<std::vector<float>> rows;
        NullTracer tracer;
        for (int i = 0; i < 5; ++i) {
            const std::int64_t begin = cache.length(sequence);
            EXPECT_EQ(begin, i == 0 ? known : std::ssize(tokens) - 1);
            rows.push_back(forward(model, {{sequence, begin, std::span(tokens).subspan(begin)}},
                                   cache, tracer, team)
                               .logits);
            const auto best = std::max_element(rows.back().begin(), rows.back().end());
            tokens.push_back(static_cast<std::int32_t>(best - rows.back().begin()));
        }
        return std::pair(tokens, rows);
    };
    const auto fresh = [&](const std::vector<std::int32_t>& tokens) {
        Team team(1);
        ContiguousCache cache(tiny_llama, KvDtype::f32, 16);
        return run(cache, team, 0, tokens, 0);
    };
    Caches caches;
    caches.push_back(std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f32, 16));
    for (const std::int64_t block_size : {1, 2, 3, 4}) {
        caches.push_back(std::make_unique<PagedCache>(tiny_llama, KvDtype::f32, block_size, 64));
    }
    Team team(1);
    for (const auto& cache : caches) {
        constexpr SequenceId handle = 10, a = 11, b = 12;
        feed_one(model, *cache, team, prefix, {3}, handle);
        EXPECT_EQ(cache->length(handle), 3);
        cache->fork(handle, a);
        EXPECT_EQ(run(*cache, team, a, {3, 1, 4, 7, 8}, 3), fresh({3, 1, 4, 7, 8}));
        EXPECT_EQ(cache->length(handle), 3);
        cache->fork(handle, b);
        EXPECT_EQ(run(*cache, team, b, {3, 1, 4, 4}, 3), fresh({3, 1, 4, 4}));
        EXPECT_EQ(cache->length(handle), 3);
        EXPECT_EQ(cache->length(a), 5 + 5 - 1);
        EXPECT_EQ(cache->length(b), 4 + 5 - 1);
    }
}

}  // namespace
}  // namespace kvtape
