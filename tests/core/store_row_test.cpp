// Rows as the caches store them: values, scale, and the account of what was lost.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/number_format.h"
#include "core/random.h"

namespace kvtape {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Stored {
    std::vector<float> restored;  // (D)
    StoreCounts counts;
};

Stored store(KvDtype dtype, const std::vector<float>& values, float scale = 1) {
    const auto head_dim = static_cast<std::int64_t>(values.size());
    std::vector<std::byte> codes(values.size() *
                                 static_cast<std::size_t>(bytes_per_element(dtype)));
    Stored stored{std::vector<float>(values.size()), {}};
    encode_row(dtype, values.data(), head_dim, scale, codes.data(), stored.counts);
    decode_row(dtype, codes.data(), head_dim, scale, stored.restored.data());
    return stored;
}

// PC-FP-08
TEST(StoreRow, WithoutAScaleLargeValuesSaturateAndAreCounted) {
    const std::vector<float> values = {896, 120, -450};
    const Stored plain = store(KvDtype::fp8_e4m3, values);
    EXPECT_EQ(plain.restored, (std::vector<float>{448, 120, -448}));
    EXPECT_EQ(plain.counts.saturated, 1);  // 450 only rounds
    EXPECT_EQ(plain.counts.worst_relative_error, 0.5f);

    const Stored scaled = store(KvDtype::fp8_e4m3, values, 2);
    EXPECT_EQ(scaled.restored, (std::vector<float>{896, 120, -448}));
    EXPECT_EQ(scaled.counts.saturated, 0);
    EXPECT_EQ(scaled.counts.worst_relative_error, 2.0f / 450);
}

// PC-FP-07
TEST(StoreRow, ATinyNegativeValueBecomesMinusZero) {
    const Stored stored = store(KvDtype::fp8_e4m3, {-1e-8f});
    EXPECT_EQ(stored.restored[0], 0.0f);
    EXPECT_TRUE(std::signbit(stored.restored[0]));
    EXPECT_EQ(stored.counts.worst_relative_error, 1.0f);
}

// PC-FP-13
TEST(StoreRow, F16InfinitiesAreCounted) {
    const Stored stored = store(KvDtype::f16, {65504, 65519.99f, 65520, 1e6f, -1e6f});
    EXPECT_EQ(stored.restored, (std::vector<float>{65504, 65504, inf, inf, -inf}));
    EXPECT_EQ(stored.counts.non_finite, 3);
    EXPECT_EQ(stored.counts.saturated, 0);
    EXPECT_EQ(stored.counts.worst_relative_error, inf);
}

TEST(StoreRow, Fp8CountsInfinitiesAsSaturatedAndNanAsNonFinite) {
    for (const KvDtype dtype : {KvDtype::fp8_e4m3, KvDtype::fp8_e5m2}) {
        const Stored stored = store(dtype, {inf, -inf, nan, 0, 1});
        EXPECT_EQ(stored.restored[0], dtype == KvDtype::fp8_e4m3 ? 448 : 57344);
        EXPECT_EQ(stored.restored[1], -stored.restored[0]);
        EXPECT_TRUE(std::isnan(stored.restored[2]));
        EXPECT_EQ(stored.counts, (StoreCounts{2, 1, 0}));
    }
}

TEST(StoreRow, F32IsACopy) {
    const std::vector<float> values = {1e-45f, -0.0f, 3.4e38f, inf, nan, 0.1f};
    const Stored stored = store(KvDtype::f32, values);
    EXPECT_EQ(std::memcmp(stored.restored.data(), values.data(), values.size() * sizeof(float)), 0);
    EXPECT_EQ(stored.counts, (StoreCounts{0, 2, 0}));
}

TEST(StoreRow, CountsAddUpOverRows) {
    StoreCounts counts;
    std::byte codes[2];
    const float first[] = {1000, 1.0625f};  // the second is a tie and loses 1/17
    const float second[] = {-500, nan};
    encode_row(KvDtype::fp8_e4m3, first, 2, 1, codes, counts);
    const float error_of_first = counts.worst_relative_error;
    encode_row(KvDtype::fp8_e4m3, second, 2, 1, codes, counts);
    EXPECT_EQ(counts, (StoreCounts{2, 1, error_of_first}));
    EXPECT_EQ(error_of_first, (1000 - 448) / 1000.0f);
}

// Rounding to nearest moves a normal number by at most half a unit of its last mantissa bit.
TEST(StoreRow, ErrorStaysBelowHalfAUnitOfTheMantissa) {
    const struct {
        KvDtype dtype;
        float half_unit;
    } cases[] = {{KvDtype::f16, 0x1p-11f},
                 {KvDtype::bf16, 0x1p-8f},
                 {KvDtype::fp8_e4m3, 0x1p-4f},
                 {KvDtype::fp8_e5m2, 0x1p-3f}};
    Random random(7);
    std::vector<float> values(1001);
    for (float& value : values) value = random.uniform(0.5f, 400);
    for (const auto& [dtype, half_unit] : cases) {
        const Stored stored = store(dtype, values);
        double worst = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double exact = values[i];
            worst = std::max(worst, std::fabs(stored.restored[i] - exact) / exact);
        }
        EXPECT_EQ(stored.counts.saturated, 0);
        EXPECT_LE(worst, half_unit) << name(dtype);
        EXPECT_GT(worst, half_unit / 2) << name(dtype);
        EXPECT_FLOAT_EQ(stored.counts.worst_relative_error, static_cast<float>(worst))
            << name(dtype);
    }
}

// A row is encoded number by number: its length and the vector width play no part.
TEST(StoreRow, EachNumberIsStoredAloneWhateverTheLengthOfTheRow) {
    Random random(11);
    std::vector<float> values(37);
    for (float& value : values) value = random.uniform(-600, 600);
    for (const KvDtype dtype : all_kv_dtypes) {
        const Stored row = store(dtype, values);
        for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(row.restored[i], store(dtype, {values[i]}).restored[0]) << name(dtype) << i;
    }
}

TEST(StoreRow, OnlyFp8HasAScale) {
    const std::vector<float> values = {1};
    for (const KvDtype dtype : {KvDtype::f32, KvDtype::f16, KvDtype::bf16})
        EXPECT_THROW(store(dtype, values, 2), ContractViolation) << name(dtype);
    for (const float scale : {0.0f, -1.0f, inf, nan})
        EXPECT_THROW(store(KvDtype::fp8_e4m3, values, scale), ContractViolation) << scale;
}

}  // namespace
}  // namespace kvtape
