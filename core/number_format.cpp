#include "core/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/check.h"

namespace kvtape {
namespace {

constexpr float largest_f32 = 0x1.fffffep127f;

constexpr bool is_fp8(KvDtype dtype) {
    return dtype == KvDtype::fp8_e4m3 || dtype == KvDtype::fp8_e5m2;
}

void check_scale(KvDtype dtype, float scale) {
    KVTAPE_CHECK(scale, >=, 0x1p-100f);
    KVTAPE_CHECK(scale, <=, 0x1p100f);
    if (!is_fp8(dtype)) KVTAPE_CHECK(scale, ==, 1.0f);
}

// |restored - value| / |value|, or 0 where that is not defined: value is 0, infinite or NaN.
float relative_error(float value, float restored) {
    const float magnitude = std::fabs(value);
    const float error = std::fabs(restored - value) / magnitude;
    return magnitude > 0 && magnitude <= largest_f32 ? error : 0;
}

template <FloatFormat format, class Code>
void encode_codes(const float* values, std::int64_t head_dim, float scale, Overflow overflow,
                  std::byte* codes, StoreCounts& counts) {
    std::int32_t saturated = 0;
    std::int32_t non_finite = 0;
    // The largest error as the bits of a float: those of floats >= 0 are ordered as the floats are,
    // and a maximum of integers, unlike one of floats, becomes vector code.
    std::int32_t worst_error_bits = 0;
    for (std::int64_t i = 0; i < head_dim; ++i) {
        const float scaled = values[i] / scale;
        const Code code = static_cast<Code>(encode<format>(scaled, overflow));
        std::memcpy(codes + i * static_cast<std::int64_t>(sizeof(Code)), &code, sizeof(Code));

        const float restored = decode<format>(code) * scale;
        const auto error_bits = bits_as<std::int32_t>(relative_error(values[i], restored));
        worst_error_bits = std::max(worst_error_bits, error_bits);
        saturated += overflow == Overflow::saturate && overflows<format>(scaled) ? 1 : 0;
        non_finite += std::fabs(restored) <= largest_f32 ? 0 : 1;
    }
    counts.saturated += saturated;
    counts.non_finite += non_finite;
    counts.worst_relative_error =
        std::max(counts.worst_relative_error, bits_as<float>(worst_error_bits));
}

template <FloatFormat format, class Code>
void decode_codes(const std::byte* codes, std::int64_t head_dim, float scale, float* values) {
    for (std::int64_t i = 0; i < head_dim; ++i) {
        Code code;
        std::memcpy(&code, codes + i * static_cast<std::int64_t>(sizeof(Code)), sizeof(Code));
        values[i] = decode<format>(code) * scale;
    }
}

}  // namespace

void encode_row(KvDtype dtype, const float* values, std::int64_t head_dim, float scale,
                std::byte* codes, StoreCounts& counts) {
    check_scale(dtype, scale);
    switch (dtype) {
        case KvDtype::f32:
            std::memcpy(codes, values, static_cast<std::size_t>(head_dim) * sizeof(float));
            counts.non_finite += std::count_if(values, values + head_dim,
                                               [](float value) { return !std::isfinite(value); });
            return;
        case KvDtype::f16:
            return encode_codes<f16_format, std::uint16_t>(values, head_dim, scale,
                                                           Overflow::to_infinity, codes, counts);
        case KvDtype::bf16:
            return encode_codes<bf16_format, std::uint16_t>(values, head_dim, scale,
                                                            Overflow::to_infinity, codes, counts);
        case KvDtype::fp8_e4m3:
            return encode_codes<e4m3_format, std::uint8_t>(values, head_dim, scale,
                                                           Overflow::saturate, codes, counts);
        case KvDtype::fp8_e5m2:
            return encode_codes<e5m2_format, std::uint8_t>(values, head_dim, scale,
                                                           Overflow::saturate, codes, counts);
    }
}

void decode_row(KvDtype dtype, const std::byte* codes, std::int64_t head_dim, float scale,
                float* values) {
    check_scale(dtype, scale);
    switch (dtype) {
        case KvDtype::f32:
            std::memcpy(values, codes, static_cast<std::size_t>(head_dim) * sizeof(float));
            return;
        case KvDtype::f16:
            return decode_codes<f16_format, std::uint16_t>(codes, head_dim, scale, values);
        case KvDtype::bf16:
            return decode_codes<bf16_format, std::uint16_t>(codes, head_dim, scale, values);
        case KvDtype::fp8_e4m3:
            return decode_codes<e4m3_format, std::uint8_t>(codes, head_dim, scale, values);
        case KvDtype::fp8_e5m2:
            return decode_codes<e5m2_format, std::uint8_t>(codes, head_dim, scale, values);
    }
}

}  // namespace kvtape
