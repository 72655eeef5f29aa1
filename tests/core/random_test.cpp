#include "core/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace kvtape {
namespace {

// The first numbers of SplitMix64 for this seed, as published with several implementations of it.
TEST(Random, GoldenBits) {
    Random random(1234567);
    for (const std::uint64_t expected :
         {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u,
          16408922859458223821u})
        EXPECT_EQ(random.next(), expected);
}

TEST(Random, GoldenFloatsAndIntegers) {
    Random random(42);
    EXPECT_EQ(random.uniform(-0.5f, 0.5f), 0x1.eeb9900p-3f);
    EXPECT_EQ(random.uniform(-0.5f, 0.5f), -0x1.5c40740p-2f);
    EXPECT_EQ(random.below(1000), 858u);
    EXPECT_EQ(random.below(1000), 764u);
}

TEST(Random, UniformStaysInsideItsHalfOpenRange) {
    Random random(1);
    double sum = 0;
    constexpr int draws = 100'000;
    for (int i = 0; i < draws; ++i) {
        const float value = random.uniform(-3, 5);
        ASSERT_GE(value, -3);
        ASSERT_LT(value, 5);
        sum += value;
    }
    // Five standard errors of the mean: 8 / sqrt(12) / sqrt(draws).
    EXPECT_NEAR(sum / draws, 1, 5 * 8 / std::sqrt(12.0 * draws));
    // There are only two floats in this range, and half of all sums round up to its end.
    const float after_one = std::nextafter(1.0f, 2.0f);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(random.uniform(1, after_one), 1);
}

TEST(Random, BelowGivesEachNumberEquallyOften) {
    Random random(9);
    std::array<int, 7> seen{};
    constexpr int draws = 70'000;
    for (int i = 0; i < draws; ++i) ++seen[random.below(7)];
    // Five standard deviations of a count with mean 10,000.
    for (const int count : seen) EXPECT_NEAR(count, draws / 7, 5 * std::sqrt(draws / 7.0 * 6 / 7));
    EXPECT_EQ(random.below(1), 0u);
    for (int i = 0; i < 100; ++i) ASSERT_LT(random.below(0xC000000000000000), 0xC000000000000000);
}

TEST(Random, EmptyRangesAreRefused) {
    Random random(0);
    EXPECT_THROW(random.below(0), ContractViolation);
    EXPECT_THROW(random.uniform(1, 1), ContractViolation);
}

}  // namespace
}  // namespace kvtape
