// Single codes that are easy to get wrong, each with its value worked out by hand.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/number_format.h"

namespace kvtape {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::uint32_t e4m3(float value, Overflow overflow = Overflow::saturate) {
    return encode<e4m3_format>(value, overflow);
}
std::uint32_t e5m2(float value, Overflow overflow = Overflow::saturate) {
    return encode<e5m2_format>(value, overflow);
}
std::uint32_t bf16(float value) {
    return encode<bf16_format>(value, Overflow::to_infinity);
}
std::uint32_t f16(float value) {
    return encode<f16_format>(value, Overflow::to_infinity);
}

// PC-FP-01
TEST(E4m3, TopOfTheRange) {
    const float above_tie = 464.00003f;
    ASSERT_GT(above_tie, 464.0f);
    for (const float value : {448.0f, 449.0f, 464.0f, above_tie, 465.0f, 500.0f, inf})
        EXPECT_EQ(e4m3(value), 0x7Eu) << value;
    EXPECT_EQ(e4m3(-inf), 0xFEu);
    EXPECT_EQ(e4m3(nan), 0x7Fu);

    for (const float value : {448.0f, 449.0f, 464.0f})  // 464 is the tie with 480; 7E is even
        EXPECT_EQ(e4m3(value, Overflow::to_infinity), 0x7Eu) << value;
    for (const float value : {above_tie, 465.0f, 500.0f, inf, nan})
        EXPECT_EQ(e4m3(value, Overflow::to_infinity), 0x7Fu) << value;
    EXPECT_EQ(e4m3(-inf, Overflow::to_infinity), 0xFFu);
}

// PC-FP-02
TEST(E4m3, TopExponentHoldsNumbers) {
    EXPECT_EQ(e4m3(240), 0x77u);
    EXPECT_EQ(e4m3(256), 0x78u);
    EXPECT_EQ(e4m3(272), 0x78u);  // a tie
    EXPECT_EQ(e4m3(288), 0x79u);
    EXPECT_EQ(e4m3(416), 0x7Du);
    EXPECT_EQ(e4m3(448), 0x7Eu);
    EXPECT_EQ(decode<e4m3_format>(0x70), 128);
    EXPECT_EQ(decode<e4m3_format>(0x78), 256);
    EXPECT_EQ(decode<e4m3_format>(0x79), 288);
    EXPECT_EQ(decode<e4m3_format>(0x7E), 448);
    EXPECT_TRUE(std::isnan(decode<e4m3_format>(0x7F)));
}

// PC-FP-04
TEST(E5m2, OverflowAndInfinity) {
    for (const float value : {57344.0f, 58000.0f, 61439.996f, 61440.0f, 65504.0f, inf})
        EXPECT_EQ(e5m2(value), 0x7Bu) << value;
    EXPECT_EQ(e5m2(-inf), 0xFBu);
    EXPECT_EQ(e5m2(nan), 0x7Fu);

    for (const float value : {57344.0f, 58000.0f, 61439.996f})
        EXPECT_EQ(e5m2(value, Overflow::to_infinity), 0x7Bu) << value;
    for (const float value : {61440.0f, 65504.0f, inf})  // a tie; 7B is odd, so it goes up
        EXPECT_EQ(e5m2(value, Overflow::to_infinity), 0x7Cu) << value;
    EXPECT_EQ(e5m2(-inf, Overflow::to_infinity), 0xFCu);
    EXPECT_EQ(e5m2(nan, Overflow::to_infinity), 0x7Fu);
}

// PC-FP-05
TEST(E4m3, RoundsOnce) {
    const float value = 1.31640625f;  // just above 1.3125, the middle of 1.25 and 1.375
    EXPECT_EQ(e4m3(value), 0x3Bu);
    const float through_bf16 = decode<bf16_format>(bf16(value));
    EXPECT_EQ(through_bf16, 1.3125f);
    EXPECT_EQ(e4m3(through_bf16), 0x3Au);
}

// PC-FP-07
TEST(E4m3, IsTheOcpType) {
    EXPECT_EQ(decode<e4m3_format>(0x80), 0.0f);
    EXPECT_TRUE(std::signbit(decode<e4m3_format>(0x80)));
    EXPECT_TRUE(std::isnan(decode<e4m3_format>(0x7F)));
    EXPECT_TRUE(std::isnan(decode<e4m3_format>(0xFF)));
    EXPECT_EQ(decode<e4m3_format>(0x38), 1.0f);
    EXPECT_EQ(decode<e4m3_format>(0x7E), 448.0f);
    EXPECT_EQ(e4m3(-1e-8f), 0x80u);
}

// PC-FP-10
TEST(Bf16, RoundsToNearestEven) {
    const auto stored = [](float value) { return decode<bf16_format>(bf16(value)); };
    EXPECT_EQ(bf16(std::bit_cast<float>(0x3E89CCD5u)), 0x3E8Au);
    EXPECT_EQ(stored(257), 256);
    EXPECT_EQ(stored(258), 258);
    EXPECT_EQ(stored(259), 260);
    EXPECT_EQ(stored(1 + 0x1p-8f), 1.0f);
    EXPECT_EQ(stored(1 + 3 * 0x1p-8f), 1.015625f);
}

// PC-FP-11
TEST(Bf16, KeepsNanAndOverflowsToInfinity) {
    const auto of_bits = [](std::uint32_t bits) { return bf16(std::bit_cast<float>(bits)); };
    for (const std::uint32_t nan_bits : {0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu})
        EXPECT_EQ(of_bits(nan_bits), 0x7FFFu) << std::hex << nan_bits;
    EXPECT_EQ(of_bits(0x7F7FFFFF), 0x7F80u);
    EXPECT_EQ(of_bits(0x7F7F7FFF), 0x7F7Fu);
    EXPECT_EQ(of_bits(0x7F7F8000), 0x7F80u);  // a tie
    EXPECT_EQ(of_bits(0x7F800000), 0x7F80u);
}

// PC-FP-13, the conversion; tests/core/store_row_test.cpp has the counts.
TEST(F16, OverflowsToInfinity) {
    EXPECT_EQ(f16(65504), 0x7BFFu);
    EXPECT_EQ(f16(65519.99f), 0x7BFFu);
    EXPECT_EQ(f16(65520), 0x7C00u);
    EXPECT_EQ(f16(1e6f), 0x7C00u);
    EXPECT_EQ(f16(-1e6f), 0xFC00u);
}

}  // namespace
}  // namespace kvtape
