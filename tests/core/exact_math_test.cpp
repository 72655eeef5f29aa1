// exact_math against the C library in a wider format, and its bits against constants: every
// compiler, optimisation level and instruction set must reproduce the same hash.
#include "core/exact_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace kvtape {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
static_assert(std::numeric_limits<long double>::digits == 64,
              "the oracle must be wider than double");

// Distance in units of the last place that a float of this size has; 2^-149 for subnormals.
double error_in_ulp(float result, double exact) {
    const int exponent = std::max(std::ilogb(exact), -126);
    return std::fabs(result - exact) / std::ldexp(1.0, exponent - 23);
}

double random_unit(Random& random) {
    return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

TEST(ExactExp, FloatIsWithinOneUlpOverTheWholeRange) {
    constexpr double tolerance_ulp = 1;  // measured: 0.94
    double worst = 0;
    // Every 199th float; most of them have results between the smallest subnormal and infinity.
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 199) {
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (!(x >= -103.9f && x <= 88.72f)) continue;
        worst = std::max(worst, error_in_ulp(exact_exp(x), std::exp(static_cast<double>(x))));
    }
    EXPECT_LE(worst, tolerance_ulp);
}

TEST(ExactExp, SubnormalResultsAreNotFlushed) {
    for (float x = -87.4f; x > -103.9f; x -= 0.001f) {
        const float result = exact_exp(x);
        ASSERT_GT(result, 0) << x;
        ASSERT_LE(error_in_ulp(result, std::exp(static_cast<double>(x))), 1) << x;
    }
}

TEST(ExactExp, Edges) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(exact_exp(0.0f)), 0x3F800000u);
    EXPECT_EQ(exact_exp(-0.0f), 1.0f);
    EXPECT_EQ(exact_exp(-inf), 0.0f);
    EXPECT_FALSE(std::signbit(exact_exp(-inf)));
    EXPECT_EQ(exact_exp(inf), inf);
    EXPECT_TRUE(std::isnan(exact_exp(nan)));
    EXPECT_TRUE(std::isnan(exact_exp(-nan)));
    // ln of the largest float lies between these two neighbours.
    EXPECT_EQ(exact_exp(88.72284f), inf);
    EXPECT_LT(exact_exp(std::nextafter(88.72284f, 0.0f)), inf);
    // ln of half of the smallest subnormal, -103.972...
    EXPECT_EQ(exact_exp(-103.97f), 0x1p-149f);
    EXPECT_EQ(exact_exp(-103.98f), 0.0f);
    EXPECT_EQ(exact_exp(-3e38f), 0.0f);
    EXPECT_EQ(exact_exp(3e38f), inf);
}

// exp(x) for x <= 0 is a softmax weight: it must not exceed that of the largest score.
TEST(ExactExp, WeightsDoNotExceedOne) {
    for (std::uint32_t bits = 0x80000000; bits < 0xC2D00000; bits += 61)
        ASSERT_LE(exact_exp(std::bit_cast<float>(bits)), 1.0f) << std::hex << bits;
}

TEST(ExactExp, ARowGivesTheBitsOfSingleCalls) {
    Random random(3);
    std::vector<float> row(1003);
    for (float& x : row) x = random.uniform(-110, 95);
    std::vector<float> together(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) together[i] = exact_exp(row[i]);  // vector code
    for (std::size_t i = 0; i < row.size(); ++i) {
        float (*volatile single)(float) = exact_exp;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(single(row[i])),
                  std::bit_cast<std::uint32_t>(together[i]));
    }
}

TEST(ExactMath, DoublesAgreeWithLongDouble) {
    constexpr long double tolerance = 5e-16L;  // about 4 rounding errors of 2^-53 each
    Random random(5);
    for (int i = 0; i < 300'000; ++i) {
        const double x = random_unit(random) * 1417 - 708;
        ASSERT_LE(std::fabs(exact_exp(x) / std::exp(static_cast<long double>(x)) - 1), tolerance)
            << x;

        // From 1e-2 to 1e12, and close to 1, where the logarithm is small.
        const double y = i % 2 == 0 ? std::exp(random_unit(random) * 32.2 - 4.6)
                                    : 1 + (random_unit(random) - 0.5) * 1e-3;
        const long double log = std::log(static_cast<long double>(y));
        ASSERT_LE(std::fabs(exact_log(y) - log), tolerance * std::fabs(log)) << y;
    }
    EXPECT_EQ(exact_exp(0.0), 1.0);
    EXPECT_EQ(exact_log(1.0), 0.0);
}

TEST(ExactMath, SinAndCosAgreeWithLongDoubleUpToAMillionRadians) {
    constexpr long double tolerance = 2e-16L;  // absolute: 2^-53 for the result, and as much again
    const auto check = [&](double x) {
        const auto wide = static_cast<long double>(x);
        ASSERT_LE(std::fabs(exact_sin(x) - std::sin(wide)), tolerance) << x;
        ASSERT_LE(std::fabs(exact_cos(x) - std::cos(wide)), tolerance) << x;
    };
    for (int position = 0; position <= 1 << 20; position += 7) check(position);
    Random random(6);
    for (int i = 0; i < 100'000; ++i)
        check((random_unit(random) - 0.5) * (i % 2 == 0 ? 0x1p21 : 16));
    for (int quarter_turns = 0; quarter_turns < 600'000; quarter_turns += 101)
        check(quarter_turns * 1.5707963267948966);  // where sin or cos nearly vanishes
    EXPECT_EQ(exact_sin(0.0), 0.0);
    EXPECT_EQ(exact_cos(0.0), 1.0);
}

TEST(Silu, MatchesItsFormula) {
    constexpr double tolerance = 4 * 0x1p-24;  // exp 1 ulp = 2 of these, the sum and the quotient
    for (float x = -80; x < 80; x += 0.01f) {
        const double exact = x / (1 + std::exp(-static_cast<double>(x)));
        ASSERT_LE(std::fabs(silu(x) - exact), tolerance * std::fabs(exact)) << x;
    }
    EXPECT_EQ(silu(0.0f), 0.0f);
    EXPECT_EQ(silu(-200.0f), 0.0f);
    EXPECT_EQ(silu(200.0f), 200.0f);
    EXPECT_TRUE(std::isnan(silu(nan)));
}

// FNV-1a over the bytes of the bits, lowest byte first.
template <class Number>
std::uint64_t hash_of(const std::vector<Number>& numbers) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const Number number : numbers) {
        std::uint64_t bits;
        if constexpr (sizeof(Number) == 4) {
            bits = std::bit_cast<std::uint32_t>(number);
        } else {
            bits = std::bit_cast<std::uint64_t>(number);
        }
        for (std::size_t byte = 0; byte < sizeof(Number); ++byte)
            hash = (hash ^ ((bits >> (8 * byte)) & 0xFF)) * 0x100000001B3;
    }
    return hash;
}

TEST(ExactMath, BitsAreTheSameEverywhere) {
    Random random(2024);
    std::vector<float> exps, silus;
    std::vector<double> double_exps, logs, sines, cosines;
    for (int i = 0; i < 100'000; ++i) {
        // Scaled by powers of two, so that the arguments do not depend on the compiler either.
        const double unit = random_unit(random);
        const auto x = static_cast<float>(unit * 0x1p8 - 0x1p7);
        exps.push_back(exact_exp(x));
        silus.push_back(silu(x));
        double_exps.push_back(exact_exp(unit * 0x1p10 - 0x1p9));
        logs.push_back(exact_log(unit * 0x1p27 + 0x1p-7));
        sines.push_back(exact_sin(unit * 0x1p21 - 0x1p20));
        cosines.push_back(exact_cos(unit * 0x1p21 - 0x1p20));
    }
    EXPECT_EQ(hash_of(exps), 0x036A6B4C9E0A8999u);
    EXPECT_EQ(hash_of(silus), 0x425AFF4902D8B16Bu);
    EXPECT_EQ(hash_of(double_exps), 0xC4300655388E66A1u);
    EXPECT_EQ(hash_of(logs), 0x26C7BECCF1989DE2u);
    EXPECT_EQ(hash_of(sines), 0x9FDFAFE138C3414Cu);
    EXPECT_EQ(hash_of(cosines), 0x5B4942B0A2BA9954u);
}

}  // namespace
}  // namespace kvtape
