// Picking a token from one row of logits.
#include "reference_cpu/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/check.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

Pick greedy(const std::vector<float>& logits) {
    Random random(1);
    return pick(logits, {}, random);
}

// How often each id is picked in `draws` draws.
std::map<std::int32_t, int> histogram(const std::vector<float>& logits, const Sampling& sampling,
                                      int draws) {
    Random random(sampling.seed);
    std::map<std::int32_t, int> counts;
    for (int i = 0; i < draws; ++i) ++counts[pick(logits, sampling, random).id];
    return counts;
}

// PC-EQ-04: five rows of 32; the pick looks at the last one.
TEST(Sampler, GreedyLooksAtTheRowItIsGiven) {
    std::vector<float> rows(5 * 32, 0.0f);
    rows[3] = 9;
    rows[4 * 32 + 7] = 2;
    const Pick picked = greedy({rows.end() - 32, rows.end()});
    EXPECT_EQ(picked.id, 7);
    EXPECT_EQ(picked.logit, 2);
    EXPECT_EQ(picked.margin, 2);
}

TEST(Sampler, GreedyTakesTheSmallerIdOfATie) {
    EXPECT_EQ(greedy({1, 5, 5, 2}).id, 1);
    EXPECT_EQ(greedy({1, 5, 5, 2}).margin, 0);
    EXPECT_EQ(greedy({-0.0f, 0.0f}).id, 0);
}

TEST(Sampler, TheMarginIsThatOfTheTwoLargest) {
    EXPECT_EQ(greedy({1, 2, 7, 4}).margin, 3);
    EXPECT_EQ(greedy({7, 4, 1}).margin, 3);
    EXPECT_EQ(greedy({4, 7}).margin, 3);
    EXPECT_EQ(greedy({-9, -3, -5}).margin, 2);
    EXPECT_EQ(greedy({-3e38f, 3e38f}).margin, inf);  // too large for a float
    EXPECT_EQ(greedy({5}).id, 0);
}

// An infinity has no distance from another one, so there is neither a margin nor an order by
// likelihood.
TEST(Sampler, RefusesNaNAndInfinityWhereverTheyStand) {
    const std::pair<float, std::string> not_finite[] = {
        {std::numeric_limits<float>::quiet_NaN(), "NaN"},
        {-std::numeric_limits<float>::quiet_NaN(), "NaN"},
        {inf, "infinity"},
        {-inf, "-infinity"}};
    for (const auto& [value, name] : not_finite) {
        for (std::size_t place = 0; place < 3; ++place) {
            std::vector<float> logits = {1, 2, 3};
            logits[place] = value;
            const std::string expected =
                "the logit of token " + std::to_string(place) + " is " + name;
            EXPECT_EQ(error_text([&] { greedy(logits); }), expected);
            EXPECT_EQ(error_text([&] { histogram(logits, {1, 0.5, 1}, 1); }), expected);
        }
    }
    EXPECT_THROW(greedy({inf, inf, 0}), Error);
    EXPECT_THROW(greedy({}), ContractViolation);
}

// Weights 1 : 2 : 1. Four standard deviations of 4000 draws are 110 for p = 1/4 and 127 for p =
// 1/2.
TEST(Sampler, DrawsInProportion) {
    const float log_2 = std::log(2.0f);
    const auto counts = histogram({0, log_2, 0}, {1, 1, 7}, 4000);
    EXPECT_NEAR(counts.at(0), 1000, 110);
    EXPECT_NEAR(counts.at(1), 2000, 127);
    EXPECT_NEAR(counts.at(2), 1000, 110);
    // Half the temperature squares the weights: 1 : 4 : 1.
    const auto colder = histogram({0, log_2, 0}, {0.5, 1, 7}, 4000);
    EXPECT_NEAR(colder.at(1), 2667, 120);
}

TEST(Sampler, TopPKeepsTheLikeliest) {
    // Probabilities 0.5, 0.25, 0.125, 0.125.
    const float log_2 = std::log(2.0f);
    const std::vector<float> logits = {0, log_2, -log_2, -log_2};
    EXPECT_EQ(histogram(logits, {1, 0.5, 1}, 1000).size(), 1u);
    EXPECT_EQ(histogram(logits, {1, 0.51, 1}, 1000).size(), 2u);
    const auto counts = histogram(logits, {1, 0.75, 1}, 3000);
    ASSERT_EQ(counts.size(), 2u);
    EXPECT_NEAR(counts.at(1), 2000, 104);                          // 2 : 1 among those kept
    EXPECT_EQ(histogram(logits, {1, 0.8, 1}, 1000).count(3), 0u);  // of equal ones the smaller id
    EXPECT_EQ(histogram(logits, {1, 1, 1}, 1000).size(), 4u);
    EXPECT_EQ(histogram(logits, {1, 1e-12, 1}, 100).size(), 1u);  // never none
}

TEST(Sampler, IsRepeatable) {
    const std::vector<float> logits = {0.3f, 0.1f, 0.2f, 0.5f};
    Random a(5), b(5);
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(pick(logits, {0.8, 0.9, 5}, a).id, pick(logits, {0.8, 0.9, 5}, b).id);
    }
}

// Close to temperature 0 all others have a weight of 0, however far they lie behind: exp of -2,000,
// -20,000 or less is not garbage.
TEST(Sampler, NearTemperatureZeroIsGreedy) {
    for (const double temperature : {1e-2, 1e-3, 1e-4, 1e-8, 1e-300, 5e-324}) {
        for (const std::vector<float>& logits : {std::vector<float>{1, 21, 3},
                                                 {20, 1, -40},
                                                 {-1000, 5, 1e30f},
                                                 {-3.4e38f, -3e38f, 3e38f},
                                                 {0, 7.5f, 14.25f, -800}}) {
            const std::int32_t best = greedy(logits).id;
            const auto counts = histogram(logits, {temperature, 1, 3}, 50);
            ASSERT_EQ(counts.size(), 1u) << "temperature " << temperature;
            EXPECT_EQ(counts.begin()->first, best);
        }
    }
}

TEST(Sampler, ReportsTheLogitOfWhatItPicked) {
    const std::vector<float> logits = {1, 1.5f, 0.5f};
    Random random(1);
    for (int i = 0; i < 50; ++i) {
        const Pick picked = pick(logits, {2, 1, 1}, random);
        EXPECT_EQ(picked.logit, logits[static_cast<std::size_t>(picked.id)]);
        EXPECT_EQ(picked.margin, 0.5f);  // of the row, whatever was picked
    }
}

TEST(Sampler, RefusesOptionsOutOfRange) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double temperature : {-0.1, nan, static_cast<double>(inf)}) {
        EXPECT_THROW(validate(Sampling{temperature, 1, 0}), Error) << temperature;
    }
    for (const double top_p : {0.0, -1.0, 1.0001, nan}) {
        EXPECT_THROW(validate(Sampling{1, top_p, 0}), Error) << top_p;
    }
    EXPECT_NO_THROW(validate(Sampling{0, 1, 0}));
}

}  // namespace
}  // namespace kvtape
