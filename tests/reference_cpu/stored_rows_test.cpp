// What is in a row, and that it stays there: rows are looked at in memory, behind the tracer's
// back.
#include <gtest/gtest.h>

#include "core/rope.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/forward_body.h"
#include "reference_cpu/paged_cache.h"
#include "support/exact_recorder.h"
#include "support/peek.h"
#include "support/tiny_models.h"
#include "support/transcript.h"

namespace kvtape {
namespace {

template <class F>
void for_all_rows(const ModelShape& shape, SequenceId sequence, std::int64_t length, const F& f) {
    for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
        for (std::int32_t g = 0; g < shape.kv_heads; ++g) {
            for (const Kind kind : {Kind::key, Kind::value}) {
                for (std::int64_t p = 0; p < length; ++p) f(RowKey{sequence, layer, g, kind}, p);
            }
        }
    }
}

// PC-EQ-10: each row is written once, and at the end its bytes are those that were written.
template <class Cache>
void expect_rows_never_change(Cache& cache) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto tokens = random_tokens(8, tiny_llama.vocab, 1);
    Team team(2);
    ExactRecorder tracer(team.size());
    for (std::int64_t begin = 0; begin < 8; begin = std::max<std::int64_t>(begin + 1, 3)) {
        const std::int64_t n = begin == 0 ? 3 : 1;
        forward(model, {{0, begin, std::span(tokens).subspan(begin, n)}}, cache, tracer, team);
    }
    const auto stored = tracer.stored();
    EXPECT_EQ(std::ssize(stored), 8 * 2 * tiny_llama.layers * tiny_llama.kv_heads);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const auto& [row, codes] = stored[i];
        if (i > 0) {
            EXPECT_LT(stored[i - 1].first, row);  // no row twice
        }
        EXPECT_EQ(cache.codes({row.sequence, row.layer, row.kv_head, row.kind}, row.position),
                  codes)
            << name(cache.dtype()) << ", layer " << row.layer << ", position " << row.position;
    }
}

TEST(StoredRows, NeverChange) {
    for (const KvDtype dtype : all_kv_dtypes) {
        Peek<ContiguousCache> contiguous(tiny_llama, dtype, 8);
        expect_rows_never_change(contiguous);
        for (const std::int64_t block_size : {1, 3, 16}) {
            Peek<PagedCache> paged(tiny_llama, dtype, block_size, 8);
            expect_rows_never_change(paged);
        }
    }
}

// PC-EQ-02, for rotary positions: the same token again and again has the same q, k and v in layer
// 0. So the K row stored at position p is the one of position 0 turned by p, also when a pass has
// one token; and V rows are not turned at all.
TEST(StoredRows, AreTurnedByTheirOwnPositionOnce) {
    const Model<float> model = tiny_model(tiny_llama);
    const std::vector<std::int32_t> tokens(7, 5);
    for (const std::int64_t prompt : {1, 3, 7}) {
        Peek<ContiguousCache> cache(tiny_llama, KvDtype::f32, 7);
        Team team(1);
        feed_one(model, cache, team, tokens, prompt_then_steps(7, prompt));
        for (std::int32_t g = 0; g < tiny_llama.kv_heads; ++g) {
            const RowKey k{0, 0, g, Kind::key}, v{0, 0, g, Kind::value};
            for (std::int64_t p = 0; p < 7; ++p) {
                float turned[4];
                std::memcpy(turned, cache.raw(k, 0), sizeof turned);  // position 0 is not turned
                rotate_half_split(turned, model.rope.cos_row(p), model.rope.sin_row(p), 4);
                EXPECT_EQ(std::memcmp(cache.raw(k, p), turned, sizeof turned), 0)
                    << "position " << p;
                EXPECT_EQ(cache.codes(v, p), cache.codes(v, 0));
                if (p > 0) {
                    EXPECT_NE(cache.codes(k, p), cache.codes(k, 0));
                }
            }
        }
    }
}

// PC-EQ-08: prompts of 5 and 2 tokens in one batch, 3 new tokens each. Nothing is padded: the short
// one has its own positions, its rows are those of its solo run, and 5 + 2 rows are written,
// not 10.
TEST(StoredRows, OfARaggedBatchAreThoseOfSoloRuns) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto a = random_tokens(8, tiny_llama.vocab, 1), b = random_tokens(5, tiny_llama.vocab, 2);
    Team team(2);
    ExactRecorder tracer(team.size());
    Peek<PagedCache> both(tiny_llama, KvDtype::f32, 2, 8);
    for (std::int64_t step = 0; step < 4; ++step) {
        const std::int64_t from_a = both.length(0), from_b = both.length(1);
        EXPECT_EQ(from_a, step == 0 ? 0 : 4 + step);
        EXPECT_EQ(from_b, step == 0 ? 0 : 1 + step);
        forward(model,
                {{0, from_a, std::span(a).subspan(from_a, step == 0 ? 5 : 1)},
                 {1, from_b, std::span(b).subspan(from_b, step == 0 ? 2 : 1)}},
                both, tracer, team);
        if (step == 0) {
            EXPECT_EQ(std::ssize(tracer.writes()), (5 + 2) * 2 * 2 * 2);
            EXPECT_EQ(both.block_table(0).size(), 3u);
            EXPECT_EQ(both.block_table(1).size(), 1u);
        }
    }
    Peek<PagedCache> solo(tiny_llama, KvDtype::f32, 2, 8);
    feed_one(model, solo, team, b, prompt_then_steps(5, 2), 1);
    for_all_rows(tiny_llama, 1, 5, [&](const RowKey& key, std::int64_t position) {
        EXPECT_EQ(both.codes(key, position), solo.codes(key, position)) << "position " << position;
    });
}

// A recycled block still has the rows of its former owner. They are overwritten before they are
// read.
TEST(StoredRows, OfAFormerOwnerAreNotRead) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto before = random_tokens(12, tiny_llama.vocab, 1), tokens = random_tokens(10, 32, 2);
    Team team(1);
    for (const std::int64_t block_size : {1, 4, 16}) {
        PagedCache used(tiny_llama, KvDtype::f32, block_size, 12),
            fresh(tiny_llama, KvDtype::f32, 4, 4);
        feed_one(model, used, team, before, {12}, 7);
        used.release(7);
        EXPECT_TRUE(same_bits(feed_one(model, used, team, tokens, chunks(10, 3)),
                              feed_one(model, fresh, team, tokens, {10})));
    }
}

// PC-FP-08, PC-FP-13: what rounding lost is reported by the pass, per layer.
TEST(StoredRows, ReportWhatRoundingLost) {
    ModelWeights weights = tiny_weights(tiny_llama);
    for (float& w : weights.layers[1].v) w *= 1e6f;  // beyond f16 and fp8, in layer 1 only
    const Model<float> model(config_of(tiny_llama), weights);
    const auto tokens = random_tokens(3, tiny_llama.vocab, 1);
    const std::int64_t values = 3 * tiny_llama.kv_heads * tiny_llama.head_dim;
    const auto losses_of = [&](KvDtype dtype, int threads) {
        Team team(threads);
        ContiguousCache cache(tiny_llama, dtype, 3);
        NullTracer tracer;
        return forward(model, {{0, 0, tokens, 0}}, cache, tracer, team).losses;
    };
    for (const int threads : {1, 3}) {
        const auto f32 = losses_of(KvDtype::f32, threads);
        EXPECT_EQ(f32, (std::vector<StoreCounts>(2)));
        const auto f16 = losses_of(KvDtype::f16, threads);
        EXPECT_EQ(f16[0].non_finite, 0);
        EXPECT_GT(f16[1].non_finite, values / 2);
        EXPECT_LE(f16[1].non_finite, values);
        EXPECT_EQ(f16[1].saturated, 0);
        const auto e4m3 = losses_of(KvDtype::fp8_e4m3, threads);
        EXPECT_EQ(e4m3[0].saturated, 0);
        EXPECT_GT(e4m3[0].worst_relative_error, 0.03f);  // a step of 1/8 rounds by up to 1/16
        EXPECT_GT(e4m3[1].saturated, values / 2);
        EXPECT_EQ(e4m3[1].non_finite, 0);
        EXPECT_GT(e4m3[1].worst_relative_error, 0.9f);
    }
}

}  // namespace
}  // namespace kvtape
