#include "core/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "core/random.h"

namespace kvtape {
namespace {

std::vector<float> half_split(std::vector<float> row, const RopeTable& table,
                              std::int64_t position) {
    rotate_half_split(row.data(), table.cos_row(position), table.sin_row(position), table.head_dim);
    return row;
}

// The other convention, as an oracle: component 2i is paired with 2i + 1.
std::vector<float> interleaved(std::vector<float> row, const RopeTable& table,
                               std::int64_t position) {
    for (std::int64_t i = 0; i < table.head_dim / 2; ++i) {
        float& x = row[static_cast<std::size_t>(2 * i)];
        float& y = row[static_cast<std::size_t>(2 * i + 1)];
        const float c = table.cos_row(position)[i];
        const float s = table.sin_row(position)[i];
        const float turned = x * c - y * s;
        y = y * c + x * s;
        x = turned;
    }
    return row;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
    constexpr float tolerance = 1e-6f;  // the expected values are given with 6 decimals
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i)
        EXPECT_NEAR(actual[i], expected[i], tolerance) << "component " << i;
}

// PC-EQ-05
TEST(Rope, PairsComponentsOfTheTwoHalves) {
    const RopeTable table = make_rope_table(4, 2, 10000);
    const std::vector<float> x = {1, 0, 0, 0};
    const std::vector<float> y = {0, 1, 0, 0};
    expect_near(half_split(x, table, 1), {0.540302f, 0, 0.841471f, 0});
    expect_near(half_split(y, table, 1), {0, 0.999950f, 0, 0.010000f});
    expect_near(interleaved(x, table, 1), {0.540302f, 0.841471f, 0, 0});
    expect_near(interleaved(y, table, 1), {-0.841471f, 0.540302f, 0, 0});
    for (const auto& row : {x, y}) {
        EXPECT_EQ(half_split(row, table, 0), row);
        EXPECT_EQ(interleaved(row, table, 0), row);
    }
}

// The two conventions differ only in the order of the components.
TEST(Rope, HalfSplitIsInterleavedWithItsComponentsReordered) {
    constexpr std::size_t half = 3;
    const RopeTable table = make_rope_table(2 * half, 100, 10000);
    Random random(1);
    std::vector<float> row(2 * half);
    for (float& x : row) x = random.uniform(-1, 1);
    std::vector<float> pairs(2 * half);
    for (std::size_t i = 0; i < half; ++i) {
        pairs[2 * i] = row[i];
        pairs[2 * i + 1] = row[i + half];
    }
    const std::vector<float> turned = half_split(row, table, 99);
    const std::vector<float> turned_pairs = interleaved(pairs, table, 99);
    for (std::size_t i = 0; i < half; ++i) {
        EXPECT_NEAR(turned[i], turned_pairs[2 * i], 1e-6f);
        EXPECT_NEAR(turned[i + half], turned_pairs[2 * i + 1], 1e-6f);
    }
}

TEST(Rope, TableIsTheRoundedExactValue) {
    const RopeTable table = make_rope_table(64, 4096, 500000);
    ASSERT_EQ(table.cos.size(), 4096u * 32u);
    // Half a unit in the last place below 1, and the error of the angle in double: at most 4096
    // radians, off by a few times 2^-53.
    constexpr long double tolerance = 0x1p-25L + 4096 * 8 * 0x1p-53L;
    for (std::int64_t position = 0; position < table.positions; ++position) {
        for (std::int64_t i = 0; i < 32; ++i) {
            const long double angle =
                position * std::pow(500000.0L, -2 * static_cast<long double>(i) / 64);
            ASSERT_LE(std::fabs(table.cos_row(position)[i] - std::cos(angle)), tolerance);
            ASSERT_LE(std::fabs(table.sin_row(position)[i] - std::sin(angle)), tolerance);
        }
    }
}

// A longer table begins with the shorter one: max_model_len does not change what is computed.
TEST(Rope, RowsDoNotDependOnTheLengthOfTheTable) {
    const RopeTable small = make_rope_table(8, 3, 10000);
    const RopeTable large = make_rope_table(8, 50, 10000);
    EXPECT_EQ(std::memcmp(small.cos.data(), large.cos.data(), small.cos.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(small.sin.data(), large.sin.data(), small.sin.size() * sizeof(float)), 0);
}

// What RoPE is for: q.k depends on the distance of the positions, not on where they are.
TEST(Rope, DotProductDependsOnTheDistance) {
    constexpr std::int64_t head_dim = 16;
    const RopeTable table = make_rope_table(head_dim, 1000, 10000);
    Random random(2);
    std::vector<float> query(head_dim), key(head_dim);
    for (float& x : query) x = random.uniform(-1, 1);
    for (float& x : key) x = random.uniform(-1, 1);
    const auto score = [&](std::int64_t query_position, std::int64_t key_position) {
        const std::vector<float> q = half_split(query, table, query_position);
        const std::vector<float> k = half_split(key, table, key_position);
        double sum = 0;
        for (std::size_t i = 0; i < q.size(); ++i) sum += static_cast<double>(q[i]) * k[i];
        return sum;
    };
    // Each of the 16 products is below 2 in size and carries a few rounding errors of 2^-24.
    constexpr double tolerance = 16 * 2 * 8 * 0x1p-24;
    for (const std::int64_t shift : {1, 100, 980})
        EXPECT_NEAR(score(15 + shift, 3 + shift), score(15, 3), tolerance) << shift;
    EXPECT_GT(std::fabs(score(15, 3) - score(15, 4)), 1e-3);
}

// Stands in for float and counts. A multiply-add is two FLOPs.
struct Counted {
    float value;
    static inline std::int64_t flops = 0;

    explicit Counted(float x) : value(x) {}
    friend Counted operator*(Counted a, Counted b) {
        ++flops;
        return Counted(a.value * b.value);
    }
    friend Counted operator-(Counted a) { return Counted(-a.value); }
    friend Counted fma(Counted a, Counted b, Counted c) {
        flops += 2;
        return Counted(std::fma(a.value, b.value, c.value));
    }
};

TEST(Rope, CostsThreeFlopsPerComponent) {
    const RopeTable table = make_rope_table(10, 6, 10000);
    std::vector<float> plain = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    std::vector<Counted> row(plain.begin(), plain.end());
    Counted::flops = 0;
    rotate_half_split(row.data(), table.cos_row(5), table.sin_row(5), 10);
    EXPECT_EQ(Counted::flops, 3 * 10);
    plain = half_split(plain, table, 5);
    for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(row[i].value, plain[i]);
}

TEST(Rope, TableOfAnOddHeadIsRefused) {
    EXPECT_THROW(make_rope_table(5, 1, 10000), ContractViolation);
    EXPECT_THROW(make_rope_table(4, -1, 10000), ContractViolation);
    EXPECT_THROW(make_rope_table(4, 1, 0.5), ContractViolation);
}

}  // namespace
}  // namespace kvtape
