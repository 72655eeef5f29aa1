// The decoder against a second one, written naively in double precision (support/naive_decoder.h).
#include <gtest/gtest.h>

#include <algorithm>

#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/naive_decoder.h"
#include "support/rounding_bound.h"
#include "support/tiny_models.h"
#include "support/transcript.h"

namespace kvtape {
namespace {

struct Distance {
    double largest = 0;
    double largest_logit = 0;
};

Distance distance(const std::vector<float>& logits /* (T, V) */,
                  const std::vector<naive::Row>& expected /* (T, V) */) {
    Distance d;
    auto logit = logits.begin();
    for (const naive::Row& row : expected) {
        for (const double value : row) {
            const double difference = std::abs(static_cast<double>(*logit++) - value);
            if (!(difference <= d.largest)) d.largest = difference;  // keeps a NaN
            d.largest_logit = std::max(d.largest_logit, std::abs(value));
        }
    }
    return d;
}

class Oracle : public testing::TestWithParam<HeadLayout> {};
INSTANTIATE_TEST_SUITE_P(Heads, Oracle, testing::ValuesIn(head_layouts),
                         [](const auto& layout) { return layout.param.name; });

TEST_P(Oracle, AgreesWithinTheRoundingOfFloat32) {
    const ModelShape& shape = GetParam().shape;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        const ModelConfig config = config_of(shape, 160);
        const ModelWeights weights = tiny_weights(shape, false, seed);
        const Model<float> model(config, weights);
        const std::int64_t n = seed == 1 ? 130 : 12;
        const auto tokens = random_tokens(n, shape.vocab, seed);
        Team team(1);
        NoCache cache(shape, KvDtype::f32, n);
        const Transcript transcript = feed_one(model, cache, team, tokens, {n});
        ASSERT_EQ(std::ssize(transcript.logits), n * shape.vocab);

        const Distance d = distance(transcript.logits, naive::logits(config, weights, tokens));
        EXPECT_TRUE(d.largest <= rounding_bound(shape, n, d.largest_logit))
            << "off by " << d.largest << ", bound " << rounding_bound(shape, n, d.largest_logit);

        // The bound is worth something: a single wrong token in the past exceeds it a hundred
        // times.
        auto other = tokens;
        other[2] = static_cast<std::int32_t>((other[2] + 1) % shape.vocab);
        const auto wrong = naive::logits(config, weights, other);
        EXPECT_GT(distance({transcript.logits.end() - shape.vocab, transcript.logits.end()},
                           {wrong.back()})
                      .largest,
                  100 * rounding_bound(shape, n, d.largest_logit));
    }
}

// A tied head is the embedding.
TEST(Oracle, AgreesForATiedHead) {
    const ModelConfig config = config_of(tiny_llama, 64, /*tied=*/true);
    const ModelWeights weights = tiny_weights(tiny_llama, /*tied=*/true);
    const Model<float> model(config, weights);
    const auto tokens = random_tokens(9, tiny_llama.vocab, 9);
    Team team(1);
    PagedCache cache(tiny_llama, KvDtype::f32, 2, 5);
    const Transcript transcript = feed_one(model, cache, team, tokens, prompt_then_steps(9, 4));
    const Distance d = distance(transcript.logits, naive::logits(config, weights, tokens));
    EXPECT_TRUE(d.largest <= rounding_bound(tiny_llama, 9, d.largest_logit))
        << "off by " << d.largest;
}

}  // namespace
}  // namespace kvtape
