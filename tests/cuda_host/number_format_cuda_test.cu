// core/number_format.h against NVIDIA's own conversions, which cuda_fp8.h, cuda_fp16.h and
// cuda_bf16.h also offer as host functions. Compiled by nvcc; no GPU is needed to run it.
// The codes must agree bit for bit, those of NaNs included.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/number_format.h"
#include "core/random.h"

namespace kvtape {
namespace {

struct FormatPair {
    const char* name;
    FloatFormat format;
    std::uint32_t (*ours)(float, Overflow);
    std::uint32_t (*nvidia)(float, Overflow);
    float (*our_number)(std::uint32_t);
    float (*nvidia_number)(std::uint32_t);
};

template <__nv_fp8_interpretation_t interpretation>
std::uint32_t nvidia_fp8(float value, Overflow overflow) {
    return __nv_cvt_float_to_fp8(
        value, overflow == Overflow::saturate ? __NV_SATFINITE : __NV_NOSAT, interpretation);
}
// The way back goes through f16, which holds every fp8 number exactly.
template <__nv_fp8_interpretation_t interpretation>
float nvidia_fp8_number(std::uint32_t code) {
    const auto fp8 = static_cast<__nv_fp8_storage_t>(code);
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(fp8, interpretation)));
}
std::uint32_t nvidia_f16(float value, Overflow) {
    return __half_raw(__float2half_rn(value)).x;
}
float nvidia_f16_number(std::uint32_t code) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(code);
    return __half2float(__half(raw));
}
std::uint32_t nvidia_bf16(float value, Overflow) {
    return __nv_bfloat16_raw(__float2bfloat16_rn(value)).x;
}
float nvidia_bf16_number(std::uint32_t code) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(code);
    return __bfloat162float(__nv_bfloat16(raw));
}

const FormatPair format_pairs[] = {
    {"e4m3", e4m3_format, encode<e4m3_format>, nvidia_fp8<__NV_E4M3>, decode<e4m3_format>,
     nvidia_fp8_number<__NV_E4M3>},
    {"e5m2", e5m2_format, encode<e5m2_format>, nvidia_fp8<__NV_E5M2>, decode<e5m2_format>,
     nvidia_fp8_number<__NV_E5M2>},
    {"f16", f16_format, encode<f16_format>, nvidia_f16, decode<f16_format>, nvidia_f16_number},
    {"bf16", bf16_format, encode<bf16_format>, nvidia_bf16, decode<bf16_format>,
     nvidia_bf16_number},
};

class NvidiaConversions : public testing::TestWithParam<FormatPair> {
  protected:
    const FormatPair& pair = GetParam();
    const bool is_fp8 = pair.format.magnitude_bits() == 7;

    void expect_equal(float value) const {
        for (const Overflow overflow : {Overflow::to_infinity, Overflow::saturate}) {
            if (overflow == Overflow::saturate && !is_fp8) continue;  // NVIDIA's do not saturate
            ASSERT_EQ(pair.ours(value, overflow), pair.nvidia(value, overflow))
                << "bits of the value " << std::hex << bits_as<std::uint32_t>(value)
                << (overflow == Overflow::saturate ? ", saturating" : "");
        }
    }
};

TEST_P(NvidiaConversions, EveryCodeIsTheSameNumber) {
    for (std::uint32_t code = 0; code < 2u << pair.format.magnitude_bits(); ++code) {
        const float ours = pair.our_number(code);
        const float nvidia = pair.nvidia_number(code);
        if (std::isnan(ours)) {
            ASSERT_TRUE(std::isnan(nvidia)) << std::hex << code;
        } else {
            ASSERT_EQ(bits_as<std::uint32_t>(ours), bits_as<std::uint32_t>(nvidia))
                << std::hex << code;
        }
    }
}

TEST_P(NvidiaConversions, NumbersTiesAndTheirNeighboursEncodeEqually) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    for (std::uint32_t code = 0; code <= pair.format.largest_code(); ++code) {
        const double number = pair.our_number(code);
        // From the largest number on, the next step is as long as the one before.
        const double next = code < pair.format.largest_code()
                                ? pair.our_number(code + 1)
                                : 2 * number - pair.our_number(code - 1);
        for (const double centre : {number, (number + next) / 2}) {
            const float value = static_cast<float>(centre);
            for (const float near :
                 {std::nextafter(value, -inf), value, std::nextafter(value, inf)}) {
                expect_equal(near);
                expect_equal(-near);
            }
        }
    }
}

TEST_P(NvidiaConversions, ALargeSampleEncodesEqually) {
    Random random(8);
    for (int i = 0; i < 2'000'000; ++i) {
        // Any float at all: subnormals, infinities and NaNs are among them.
        expect_equal(bits_as<float>(static_cast<std::uint32_t>(random.next() >> 32)));
        // And one in the range of the format.
        const int exponent = static_cast<int>(random.below(40)) - 22;
        expect_equal(std::ldexp(random.uniform(-2, 2), exponent));
    }
    for (const std::uint32_t bits :
         {0x00000000u, 0x80000000u, 0x00000001u, 0x807FFFFFu, 0x7F7FFFFFu, 0x7F800000u, 0xFF800000u,
          0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu})
        expect_equal(bits_as<float>(bits));
}

INSTANTIATE_TEST_SUITE_P(AllFormats, NvidiaConversions, testing::ValuesIn(format_pairs),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kvtape
