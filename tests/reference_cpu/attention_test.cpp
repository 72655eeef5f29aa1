// Attention with answers known in closed form (support/log_keys.h), by itself and inside the model.
#include <gtest/gtest.h>

#include <memory>

#include "core/check.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/forward.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/log_keys.h"

namespace kvtape {
namespace {

// Answers are at most 13, and a score, an exp, a sum and a quotient are rounded on the way: a
// handful of roundings of 2^-24 each. The nearest wrong answer is 0.04 away.
constexpr double tolerance = 1e-6;

const std::vector<std::vector<std::int64_t>> plans_of_five = {{5},    {4, 1},    {3, 2},
                                                              {2, 3}, {2, 2, 1}, {1, 1, 1, 1, 1}};

std::vector<std::unique_ptr<KvCache>> log_key_caches(const ModelShape& shape, KvDtype dtype) {
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<ContiguousCache>(shape, dtype, 40));
    for (const std::int64_t block_size : {1, 2, 3, 4, 16}) {
        caches.push_back(std::make_unique<PagedCache>(shape, dtype, block_size, 40));
    }
    return caches;
}

// PC-EQ-01: query i of a chunk sees the cached keys and the chunk's first i.
TEST(Attention, MasksAChunkThatIsShorterThanTheCache) {
    for (const auto& plan : plans_of_five) {
        for (const auto& cache : log_key_caches(log_key_shape, KvDtype::f32)) {
            std::int64_t position = 0;
            for (const std::int64_t chunk : plan) {
                for (const float answer : log_key_chunk(*cache, chunk)) {
                    EXPECT_NEAR(answer, log_key_answer(position), tolerance)
                        << cache->lane().name << " B=" << cache->lane().block_size << ", position "
                        << position;
                    ++position;
                }
            }
        }
    }
}

// The same through forward(): its mask, its chunks, its caches.
TEST(Attention, InsideTheModelMasksEveryChunkPlan) {
    const Model<float> model = log_key_model();
    const ModelShape& shape = model.config.shape;
    std::vector<std::int32_t> tokens(log_key_tokens);
    for (std::int32_t j = 0; j < log_key_tokens; ++j) tokens[static_cast<std::size_t>(j)] = j;
    NullTracer tracer;
    Team team(2);
    for (const std::int64_t chunk : {32, 31, 16, 5, 3, 2, 1}) {
        for (const auto& cache : log_key_caches(shape, KvDtype::f32)) {
            for (std::int64_t begin = 0; begin < log_key_tokens; begin += chunk) {
                const std::int64_t n = std::min(chunk, log_key_tokens - begin);
                const auto result =
                    forward(model, {{0, begin, std::span(tokens).subspan(begin, n), n}}, *cache,
                            tracer, team);
                for (std::int64_t i = 0; i < n; ++i) {
                    // A quotient of logits: norms and projections add roundings, so the bound is
                    // relative.
                    const double expected = log_key_answer(begin + i);
                    EXPECT_NEAR(log_key_answer_of(&result.logits[i * shape.vocab]), expected,
                                4 * tolerance * expected)
                        << cache->lane().name << ", chunks of " << chunk << ", position "
                        << begin + i;
                }
            }
        }
    }
}

// PC-EQ-11: without a cache too, a query does not see the future. Without a mask all would be 11/3.
TEST(Attention, IsCausalWithoutACache) {
    NoCache cache(log_key_shape, KvDtype::f32, 5);
    const std::vector<float> answers = log_key_chunk(cache, 5);
    for (std::int64_t p = 0; p < 5; ++p) {
        EXPECT_NEAR(answers[static_cast<std::size_t>(p)], log_key_answer(p), tolerance);
    }
    EXPECT_EQ(cache.length(0), 0);

    const Model<float> model = log_key_model();
    NoCache of_model(model.config.shape, KvDtype::f32, 5);
    NullTracer tracer;
    Team team(1);
    const std::vector<std::int32_t> tokens = {0, 1, 2, 3, 4};
    const auto result = forward(model, {{0, 0, tokens, 5}}, of_model, tracer, team);
    for (std::int64_t p = 0; p < 5; ++p) {
        EXPECT_NEAR(log_key_answer_of(&result.logits[p * model.config.shape.vocab]),
                    log_key_answer(p), 4 * tolerance * log_key_answer(p));
    }
}

// A mask that is off by one, either way, gives another fraction: the test above would notice.
TEST(Attention, WithAMaskOffByOneGivesAnotherAnswer) {
    ContiguousCache cache(log_key_shape, KvDtype::f32, 8);
    log_key_chunk(cache, 8);
    for (std::int64_t p = 1; p < 7; ++p) {
        EXPECT_NEAR(attend_log_keys(cache, 0, p, p + 1), log_key_answer(p), tolerance);
        EXPECT_GT(std::abs(attend_log_keys(cache, 0, p, p) - log_key_answer(p)), 0.5);
        EXPECT_GT(std::abs(attend_log_keys(cache, 0, p, p + 2) - log_key_answer(p)), 0.5);
    }
    // Behind the last row there is nothing but NaN.
    ContiguousCache longer(log_key_shape, KvDtype::f32, 9);
    log_key_chunk(longer, 8);
    longer.reserve(0, 9);
    EXPECT_TRUE(std::isnan(attend_log_keys(longer, 0, 7, 9)));
}

// PC-EQ-07: head h reads KV head h / (H / G).
TEST(Attention, MapsQueryHeadsToKvHeadsInGroups) {
    const struct {
        std::int64_t heads, kv_heads;
        std::vector<float> expected;
    } cases[] = {{4, 2, {1, 1, 2, 2}},
                 {6, 2, {1, 1, 1, 2, 2, 2}},
                 {6, 3, {1, 1, 2, 2, 3, 3}},
                 {4, 4, {1, 2, 3, 4}},
                 {4, 1, {1, 1, 1, 1}}};
    for (const auto& [heads, kv_heads, expected] : cases) {
        const ModelShape shape{1, 2, heads, kv_heads, 2, 1, 1};
        ContiguousCache cache(shape, KvDtype::f32, 1);
        cache.reserve(0, 1);
        NullTracer::Worker nobody;
        KvView<NullTracer> view(cache, nobody);
        const float key[2] = {1, 0};
        for (std::int32_t g = 0; g < kv_heads; ++g) {
            const float value[2] = {static_cast<float>(g + 1), static_cast<float>(g + 1)};
            view.store({0, 0, g, Kind::key}, 0, key);
            view.store({0, 0, g, Kind::value}, 0, value);
        }
        AttentionScratch<float> scratch(shape);
        const std::vector<float> q(static_cast<std::size_t>(heads * 2), 1.0f);
        std::vector<float> out(q.size());
        attend(view, shape, {0, 0, 0, 1, {0, kv_heads}, 1}, q.data(), out.data(), scratch);
        for (std::size_t h = 0; h < expected.size(); ++h) {
            EXPECT_EQ(out[2 * h], expected[h])
                << "head " << h << " of " << heads << "/" << kv_heads;
            EXPECT_EQ(out[2 * h + 1], expected[h]);
        }
    }
}

// PC-BD-04: any size of split, and parts without keys.
TEST(Attention, MergesPartialSumsOfAnySize) {
    PagedCache cache(log_key_shape, KvDtype::f32, 2, 3);
    log_key_chunk(cache, 5);
    for (const std::int64_t split : {1, 2, 3, 4, 5, 64}) {
        EXPECT_NEAR(attend_log_keys(cache, 0, 4, 5, split), 11.0 / 3, tolerance) << split;
    }
}

TEST(Attention, SkipsEmptyParts) {
    // The five keys one by one, with empty parts before, between and after them: eight parts in
    // all.
    const std::vector<int> keys_of_part = {0, 1, 1, 0, 1, 1, 1, 0};
    float sum_value = std::numeric_limits<float>::quiet_NaN();
    PartialAttention<float> sum;
    sum.value = &sum_value;
    int position = 0;
    for (const int keys : keys_of_part) {
        float value = std::numeric_limits<float>::quiet_NaN();  // of a part without keys
        PartialAttention<float> part;
        part.value = &value;
        part.maximum = -std::numeric_limits<float>::infinity();
        if (keys == 1) {
            value = static_cast<float>(position + 1);
            part = {1, static_cast<float>(std::log(position + 1)), 1, &value};
            ++position;
        }
        merge(sum, part, 1);
    }
    EXPECT_EQ(sum.keys, 5);
    EXPECT_NEAR(sum_value / sum.weight, 11.0 / 3, tolerance);
}

// A query without keys has no answer: refused, not a NaN that travels on.
TEST(Attention, RefusesAQueryWithoutKeys) {
    ContiguousCache cache(log_key_shape, KvDtype::f32, 1);
    EXPECT_THROW(attend_log_keys(cache, 0, 0, 0), ContractViolation);
}

// PC-FP-14: f16 rows, but the dot product of 64 times 64 * 64 is formed in f32 before it is scaled.
TEST(Attention, FormsScoresInFloat32) {
    const ModelShape shape{1, 64, 1, 1, 64, 1, 1};
    ContiguousCache cache(shape, KvDtype::f16, 2);
    cache.reserve(0, 2);
    NullTracer::Worker nobody;
    KvView<NullTracer> view(cache, nobody);
    const std::vector<float> large(64, 64.0f), zero(64, 0.0f), five(64, 5.0f), nine(64, 9.0f);
    view.store({0, 0, 0, Kind::key}, 0, large.data());
    view.store({0, 0, 0, Kind::value}, 0, five.data());
    view.store({0, 0, 0, Kind::key}, 1, zero.data());
    view.store({0, 0, 0, Kind::value}, 1, nine.data());
    AttentionScratch<float> scratch(shape);
    std::vector<float> out(64);
    attend(view, shape, {0, 0, 1, 2, {0, 1}, 1.0f / 8}, large.data(), out.data(), scratch);
    for (const float value : out) EXPECT_EQ(value, 5.0f);
}

// PC-FP-16: only the keys ln(j + 1) are rounded; each format has its own, known, answer.
TEST(Attention, DriftsByAKnownAmountPerFormat) {
    const struct {
        KvDtype dtype;
        double at_4, at_5;
    } cases[] = {{KvDtype::f32, 3.6666667, 4.3333333},
                 {KvDtype::f16, 3.6666265, 4.3333562},
                 {KvDtype::bf16, 3.6663221, 4.3320838},
                 {KvDtype::fp8_e4m3, 3.6703003, 4.3130803},
                 {KvDtype::fp8_e5m2, 3.6303319, 4.2938031}};
    for (const auto& [dtype, at_4, at_5] : cases) {
        for (const auto& cache : log_key_caches(log_key_shape, dtype)) {
            const std::vector<float> answers = log_key_chunk(*cache, 6);
            EXPECT_NEAR(answers[4], at_4, 2e-6) << name(dtype) << " " << cache->lane().name;
            EXPECT_NEAR(answers[5], at_5, 2e-6) << name(dtype) << " " << cache->lane().name;
        }
    }
}

}  // namespace
}  // namespace kvtape
