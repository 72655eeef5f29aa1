// Every code of the four narrow formats, and every kind of input, against an oracle that knows only
// the written rules: decode by ldexp in double, encode by looking for the nearest of all numbers.
#include "core/number_format.h"

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

// A format as its specification states it, beside the code under test.
struct FormatCase {
    const char* name;
    int exponent_bits;
    int mantissa_bits;
    int bias;
    bool has_infinity;
    double largest;
    std::uint32_t nan_code;
    std::uint32_t (*encode)(float, Overflow);
    float (*decode)(std::uint32_t);
    bool (*overflows)(float);

    std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
    std::uint32_t top_exponent() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }

    // The number of a code without its sign, as if every exponent field held numbers.
    double number(std::uint32_t magnitude) const {
        const int field = static_cast<int>(magnitude >> mantissa_bits);
        const int mantissa = static_cast<int>(magnitude) & ((1 << mantissa_bits) - 1);
        return field == 0
                   ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                   : std::ldexp((1 << mantissa_bits) + mantissa, field - bias - mantissa_bits);
    }
    bool is_number(std::uint32_t magnitude) const {
        return has_infinity ? magnitude < top_exponent() : magnitude != sign_bit() - 1;
    }
    bool is_infinity(std::uint32_t magnitude) const {
        return has_infinity && magnitude == top_exponent();
    }
};

template <FloatFormat format>
constexpr FormatCase format_case(const char* name, int exponent_bits, int mantissa_bits, int bias,
                                 bool has_infinity, double largest, std::uint32_t nan_code) {
    return {name,    exponent_bits, mantissa_bits,  bias,           has_infinity,
            largest, nan_code,      encode<format>, decode<format>, overflows<format>};
}

const FormatCase format_cases[] = {
    format_case<f16_format>("f16", 5, 10, 15, true, 65504, 0x7FFF),
    format_case<bf16_format>("bf16", 8, 7, 127, true, 0x1.FEp127, 0x7FFF),
    format_case<e4m3_format>("e4m3", 4, 3, 7, false, 448, 0x7F),
    format_case<e5m2_format>("e5m2", 5, 2, 15, true, 57344, 0x7F),
};

void PrintTo(const FormatCase& format, std::ostream* os) {
    *os << format.name;
}

class NumberFormat : public testing::TestWithParam<FormatCase> {
  protected:
    const FormatCase& format = GetParam();

    // Codes of the numbers >= 0, in order: 0, 1, 2, ... and one more, the first that overflows.
    std::vector<double> numbers_and_one_beyond() const {
        std::vector<double> numbers;
        std::uint32_t magnitude = 0;
        for (; format.is_number(magnitude); ++magnitude)
            numbers.push_back(format.number(magnitude));
        numbers.push_back(format.number(magnitude));
        return numbers;
    }

    // The code of the nearest number, a tie to the even code.
    std::uint32_t nearest_code(float value, Overflow overflow,
                               const std::vector<double>& numbers) const {
        if (std::isnan(value)) return format.nan_code;
        const std::uint32_t sign = std::signbit(value) ? format.sign_bit() : 0;
        const double magnitude = std::fabs(static_cast<double>(value));

        const auto above = std::lower_bound(numbers.begin(), numbers.end(), magnitude);
        auto code = static_cast<std::uint32_t>(above - numbers.begin());
        if (above != numbers.begin() && above != numbers.end()) {
            const double down = magnitude - above[-1];
            const double up = above[0] - magnitude;
            if (down < up || (down == up && code % 2 == 1)) --code;
        }
        const auto largest_code = static_cast<std::uint32_t>(numbers.size() - 2);
        if (code <= largest_code) return sign | code;
        if (overflow == Overflow::saturate) return sign | largest_code;
        return sign | (format.has_infinity ? format.top_exponent() : format.nan_code);
    }

    void expect_nearest(float value, const std::vector<double>& numbers) const {
        for (const Overflow overflow : {Overflow::saturate, Overflow::to_infinity}) {
            ASSERT_EQ(format.encode(value, overflow), nearest_code(value, overflow, numbers))
                << "value " << value << ", bits " << std::hex << std::bit_cast<std::uint32_t>(value)
                << (overflow == Overflow::saturate ? ", saturating" : ", not saturating");
        }
    }
};

TEST_P(NumberFormat, DecodesEveryCode) {
    for (std::uint32_t code = 0; code < 2 * format.sign_bit(); ++code) {
        const std::uint32_t magnitude = code & (format.sign_bit() - 1);
        const float decoded = format.decode(code);
        if (format.is_number(magnitude)) {
            ASSERT_EQ(std::fabs(decoded), format.number(magnitude)) << std::hex << code;
        } else if (format.is_infinity(magnitude)) {
            ASSERT_EQ(std::fabs(decoded), inf) << std::hex << code;
        } else {
            ASSERT_TRUE(std::isnan(decoded)) << std::hex << code;
        }
        ASSERT_EQ(std::signbit(decoded), code != magnitude) << std::hex << code;
    }
}

TEST_P(NumberFormat, EveryCodeSurvivesARoundTrip) {
    for (std::uint32_t code = 0; code < 2 * format.sign_bit(); ++code) {
        const float decoded = format.decode(code);
        const std::uint32_t expected = std::isnan(decoded) ? format.nan_code : code;
        ASSERT_EQ(format.encode(decoded, Overflow::to_infinity), expected) << std::hex << code;
        if (!std::isinf(decoded)) {
            ASSERT_EQ(format.encode(decoded, Overflow::saturate), expected) << std::hex << code;
        }
    }
}

TEST_P(NumberFormat, LargestNumberIsTheOneOfTheSpecification) {
    const std::vector<double> numbers = numbers_and_one_beyond();
    EXPECT_EQ(numbers[numbers.size() - 2], format.largest);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
}

TEST_P(NumberFormat, NumbersMidpointsAndTheirNeighboursGoToTheNearest) {
    const std::vector<double> numbers = numbers_and_one_beyond();
    for (std::size_t code = 0; code + 1 < numbers.size(); ++code) {
        const double midpoint = (numbers[code] + numbers[code + 1]) / 2;
        for (const double centre : {numbers[code], midpoint}) {
            const float value = static_cast<float>(centre);
            ASSERT_EQ(value, centre) << "a float holds every midpoint exactly";
            for (const float near :
                 {std::nextafter(value, -inf), value, std::nextafter(value, inf)}) {
                expect_nearest(near, numbers);
                expect_nearest(-near, numbers);
            }
        }
    }
}

TEST_P(NumberFormat, ARandomSampleGoesToTheNearest) {
    const std::vector<double> numbers = numbers_and_one_beyond();
    Random random(20240501);
    for (int i = 0; i < 300'000; ++i) {
        // Any float at all (NaNs and infinities among them), and one in the range of the format.
        expect_nearest(std::bit_cast<float>(static_cast<std::uint32_t>(random.next() >> 32)),
                       numbers);
        const int exponent = static_cast<int>(random.below(40)) - 22;
        expect_nearest(std::ldexp(random.uniform(-2, 2), exponent), numbers);
    }
    for (const float special : {0.0f, -0.0f, inf, -inf, nan, -nan})
        expect_nearest(special, numbers);
}

TEST_P(NumberFormat, RoundingKeepsTheOrder) {
    float previous = -inf;
    for (std::int64_t step = -200'000; step <= 200'000; ++step) {
        const float value = static_cast<float>(step) * 0.001f;
        const float rounded = format.decode(format.encode(value, Overflow::saturate));
        ASSERT_GE(rounded, previous) << value;
        previous = rounded;
    }
}

TEST_P(NumberFormat, OverflowIsWhatDoesNotRoundToTheLargestNumber) {
    const std::vector<double> numbers = numbers_and_one_beyond();
    const double midpoint = (numbers[numbers.size() - 2] + numbers.back()) / 2;
    const auto tie = static_cast<float>(midpoint);
    const bool largest_is_even = numbers.size() % 2 == 0;
    EXPECT_FALSE(format.overflows(static_cast<float>(format.largest)));
    EXPECT_FALSE(format.overflows(std::nextafter(tie, 0.0f)));
    EXPECT_EQ(format.overflows(tie), !largest_is_even);
    EXPECT_TRUE(format.overflows(std::nextafter(tie, inf)));
    EXPECT_TRUE(format.overflows(-inf));
    EXPECT_FALSE(format.overflows(nan));
}

INSTANTIATE_TEST_SUITE_P(AllFormats, NumberFormat, testing::ValuesIn(format_cases),
                         [](const auto& test) { return std::string(test.param.name); });

static_assert(encode<e4m3_format>(448.0f, Overflow::saturate) == 0x7E);
static_assert(decode<f16_format>(0x0001) == 0x1p-24f);

}  // namespace
}  // namespace kvtape
