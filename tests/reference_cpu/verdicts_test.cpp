// Rounding, near-ties and real errors are three different verdicts. PC-EQ-16
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "reference_cpu/compare.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "support/peek.h"
#include "support/tiny_models.h"

namespace kvtape {
namespace {

// V = d, so that the identity can be the head and logits show the last hidden row.
constexpr ModelShape square{2, 16, 4, 2, 4, 32, 16};
constexpr std::int64_t prompt = 5;

// Runs NoCache beside a contiguous cache in which, after prefill, one number of one V row was
// changed by `units` in the last place: a stand-in for arithmetic in another order.
Comparison compare_with_a_nudge(const ModelWeights& weights, std::int32_t units) {
    const Model<float> model(config_of(square), weights);
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<NoCache>(square, KvDtype::f32, 16));
    auto contiguous = std::make_unique<Peek<ContiguousCache>>(square, KvDtype::f32, 16);
    auto* cache = contiguous.get();
    caches.push_back(std::move(contiguous));
    Team team(1);
    Request request;
    request.prompt = random_tokens(prompt, square.vocab, 1);
    request.max_tokens = 2;
    return compare(model, caches, team, request, {16}, {}, [&](const Step& step) {
        if (step.lane != 1 || step.index != 0) return;
        std::byte* row = cache->raw({0, 1, 0, Kind::value}, 0);
        std::int32_t bits;
        std::memcpy(&bits, row, sizeof bits);
        bits += units;
        std::memcpy(row, &bits, sizeof bits);
    });
}

TEST(Verdicts, ADifferenceOfRoundingIsCalledSo) {
    const Comparison comparison = compare_with_a_nudge(tiny_weights(square), 16);
    EXPECT_EQ(comparison.verdict, Verdict::rounding);
    EXPECT_GT(comparison.largest_logit_difference, 0);
    EXPECT_LE(comparison.largest_logit_difference, rounding_tolerance);
    ASSERT_TRUE(comparison.first_difference.has_value());  // and still it is not equal bits
    EXPECT_EQ(comparison.first_difference->step, 1);
    EXPECT_EQ(comparison.first_difference->what, "logits");
    EXPECT_GT(comparison.smallest_margin, rounding_tolerance);
}

TEST(Verdicts, ALargeDifferenceIsARealOne) {
    const Comparison comparison = compare_with_a_nudge(tiny_weights(square), 1 << 23);  // times 2
    EXPECT_EQ(comparison.verdict, Verdict::different);
    EXPECT_GT(comparison.largest_logit_difference, 100 * rounding_tolerance);
}

// Two tokens whose logits are equal but for the rounding of their sums: head row 1 is head row 0
// plus a row that is orthogonal to the last hidden row x. Among a few such rows there is one where
// the nudge decides which of the two is picked.
TEST(Verdicts, AnotherPickBetweenEqualsIsANearTie) {
    ModelWeights weights = tiny_weights(square);
    const auto zero_head = std::vector<float>(weights.head.size(), 0.0f);

    // With the identity as the head the logits of the last position are x.
    std::vector<float> identity = zero_head;
    for (std::size_t i = 0; i < 16; ++i) identity[i * 16 + i] = 1;

    bool found = false;
    Random random(1);
    for (int attempt = 0; attempt < 200 && !found; ++attempt) {
        // The hidden row of step 1 depends on the token picked in step 0: always token 0 or 1,
        // whose embeddings are made equal, so that it does not matter which.
        std::copy_n(weights.embedding.begin(), 16, weights.embedding.begin() + 16);
        std::vector<float> x(16);
        {
            ModelWeights probe = weights;
            probe.head = identity;
            const Model<float> model(config_of(square), probe);
            ContiguousCache cache(square, KvDtype::f32, 16);
            NullTracer tracer;
            Team team(1);
            auto tokens = random_tokens(prompt, square.vocab, 1);
            tokens.push_back(0);
            const auto logits = forward(model, {{0, 0, tokens}}, cache, tracer, team).logits;
            std::copy(logits.begin(), logits.end(), x.begin());
        }
        weights.head = zero_head;
        for (std::size_t i = 0; i < 16; ++i) {
            weights.head[i] = std::copysign(random.uniform(0.5f, 1.0f), x[i]);
            weights.head[16 + i] = weights.head[i];
        }
        const std::size_t i = random.below(8), j = 8 + random.below(8);
        weights.head[16 + i] += x[j];
        weights.head[16 + j] -= x[i];

        const Comparison comparison = compare_with_a_nudge(weights, 64);
        EXPECT_NE(comparison.verdict, Verdict::different) << "attempt " << attempt;
        if (comparison.verdict != Verdict::near_tie) continue;
        found = true;
        EXPECT_NE(comparison.decoders[0].generation.token_ids,
                  comparison.decoders[1].generation.token_ids);
        EXPECT_LE(comparison.smallest_margin, rounding_tolerance);
        EXPECT_LE(comparison.largest_logit_difference, rounding_tolerance);
    }
    EXPECT_TRUE(found);
}

TEST(Verdicts, HaveNames) {
    EXPECT_STREQ(name(Verdict::equal_bits), "equal bits");
    EXPECT_STREQ(name(Verdict::rounding), "rounding");
    EXPECT_STREQ(name(Verdict::near_tie), "near-tie");
    EXPECT_STREQ(name(Verdict::different), "different");
}

}  // namespace
}  // namespace kvtape
