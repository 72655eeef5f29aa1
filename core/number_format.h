// The narrow number formats of a KV cache, and the only place that converts to and from them.
//
// All four are small copies of a float: a sign, an exponent field and a mantissa field. So there is
// one encoder and one decoder, with the field widths as a parameter. The rules:
//
//   - a float is rounded once, to the nearest code, a tie to the code with the even mantissa;
//   - the value rounded is the float that is handed in: a detour through bf16 would round twice;
//   - minus zero, subnormals and infinities keep their meaning;
//   - every NaN becomes the one NaN whose bits are all set but for the sign: 7FFF in f16 and bf16,
//     7F in e4m3 and e5m2. NVIDIA's conversions choose the same.
//
// Both directions are free of data-dependent branches, so a loop over a row becomes vector code,
// and compile on the GPU to the same bits. Subnormal floats must not be flushed to zero (no
// -ffast-math, no --use_fast_math).
//
// Sources: IEEE 754-2019 for f16; "OCP 8-bit Floating Point Specification (OFP8)", revision 1.0,
// for e4m3 and e5m2. bf16 is the upper half of an IEEE float.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "core/kv_dtype.h"

namespace kvtape {

struct FloatFormat {
    int exponent_bits;
    int mantissa_bits;
    bool has_infinity;  // false: the top exponent holds numbers too, and only mantissa 11..1 is NaN

    KVTAPE_HOST_DEVICE constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    KVTAPE_HOST_DEVICE constexpr int magnitude_bits() const {
        return exponent_bits + mantissa_bits;
    }
    // Codes without their sign. In this order they are: numbers, then infinity, then NaNs.
    KVTAPE_HOST_DEVICE constexpr std::uint32_t largest_code() const {
        return has_infinity ? infinity_code() - 1 : nan_code() - 1;
    }
    KVTAPE_HOST_DEVICE constexpr std::uint32_t infinity_code() const {
        return ((1u << exponent_bits) - 1) << mantissa_bits;
    }
    KVTAPE_HOST_DEVICE constexpr std::uint32_t nan_code() const {
        return (1u << magnitude_bits()) - 1;
    }
};

inline constexpr FloatFormat f16_format{5, 10, true};
inline constexpr FloatFormat bf16_format{8, 7, true};
inline constexpr FloatFormat e4m3_format{4, 3, false};  // "fn": finite, largest 448
inline constexpr FloatFormat e5m2_format{5, 2, true};   // largest 57344

// What becomes of a number that rounds to something beyond the largest one.
enum class Overflow {
    saturate,     // it becomes the largest number, and so does an infinity
    to_infinity,  // it becomes an infinity, or NaN in a format that has none
};

namespace detail {

constexpr int f32_bias = 127;
constexpr int f32_mantissa_bits = 23;
constexpr std::uint32_t f32_infinity = 0x7F800000;
constexpr std::uint32_t f32_magnitude_mask = 0x7FFFFFFF;

KVTAPE_HOST_DEVICE constexpr float power_of_two(int exponent) {
    return bits_as<float>(static_cast<std::uint32_t>(f32_bias + exponent) << f32_mantissa_bits);
}

// |value| rounded to a code, as if the exponent field had no upper end. NaN gives any large code.
template <FloatFormat format>
KVTAPE_HOST_DEVICE constexpr std::uint32_t rounded_magnitude(float value) {
    const std::uint32_t magnitude = bits_as<std::uint32_t>(value) & f32_magnitude_mask;

    // A normal number keeps its leading mantissa bits. Adding just under half of the last kept bit,
    // or exactly half when that bit is odd, carries where rounding goes up; a carry out of the
    // mantissa steps the exponent, which is right. Then the exponent is counted from another bias.
    constexpr int dropped_bits = f32_mantissa_bits - format.mantissa_bits;
    constexpr std::uint32_t just_under_half = (1u << (dropped_bits - 1)) - 1;
    constexpr std::uint32_t rebias = static_cast<std::uint32_t>(f32_bias - format.bias())
                                     << format.mantissa_bits;
    const std::uint32_t odd = (magnitude >> dropped_bits) & 1;
    const std::uint32_t normal = ((magnitude + just_under_half + odd) >> dropped_bits) - rebias;

    // A subnormal is a count of equal steps. Beside 2^23 steps, neighbouring floats lie one step
    // apart, so the addition does the rounding and the last bits of its result are the count.
    constexpr int smallest_normal_exponent = 1 - format.bias();
    constexpr int step_exponent = smallest_normal_exponent - format.mantissa_bits;
    constexpr float steps_2_23 = power_of_two(step_exponent + f32_mantissa_bits);
    const std::uint32_t subnormal = bits_as<std::uint32_t>(bits_as<float>(magnitude) + steps_2_23) -
                                    bits_as<std::uint32_t>(steps_2_23);

    constexpr std::uint32_t smallest_normal =
        bits_as<std::uint32_t>(power_of_two(smallest_normal_exponent));
    return magnitude < smallest_normal ? subnormal : normal;
}

KVTAPE_HOST_DEVICE constexpr bool is_nan(float value) {
    return (bits_as<std::uint32_t>(value) & f32_magnitude_mask) > f32_infinity;
}

}  // namespace detail

// Whether `value` rounds to something beyond the largest number of the format. True for infinities.
template <FloatFormat format>
KVTAPE_HOST_DEVICE constexpr bool overflows(float value) {
    return !detail::is_nan(value) &&
           detail::rounded_magnitude<format>(value) > format.largest_code();
}

// The code of `value`, in the low 8 or 16 bits.
template <FloatFormat format>
KVTAPE_HOST_DEVICE constexpr std::uint32_t encode(float value, Overflow overflow) {
    const std::uint32_t limit = overflow == Overflow::saturate ? format.largest_code()
                                : format.has_infinity          ? format.infinity_code()
                                                               : format.nan_code();
    const std::uint32_t sign = (bits_as<std::uint32_t>(value) >> 31) << format.magnitude_bits();
    const std::uint32_t rounded = detail::rounded_magnitude<format>(value);
    const std::uint32_t code = sign | (rounded > format.largest_code() ? limit : rounded);
    return detail::is_nan(value) ? format.nan_code() : code;
}

// The number a code stands for; exact. Bits above the code are ignored.
template <FloatFormat format>
KVTAPE_HOST_DEVICE constexpr float decode(std::uint32_t code) {
    const std::uint32_t sign = (code >> format.magnitude_bits()) << 31;
    const std::uint32_t magnitude = code & ((1u << format.magnitude_bits()) - 1);
    // With its fields moved to their places in a float, the code is right but for the bias. A
    // product with a power of two mends that, and makes normal floats of the subnormal codes.
    const std::uint32_t fields = magnitude << (detail::f32_mantissa_bits - format.mantissa_bits);
    constexpr float rebias = detail::power_of_two(detail::f32_bias - format.bias());
    const std::uint32_t number = bits_as<std::uint32_t>(bits_as<float>(fields) * rebias);
    // An infinity or NaN of the format gets the exponent field that a float uses for them.
    const std::uint32_t top = magnitude > format.largest_code() ? detail::f32_infinity : 0;
    return bits_as<float>(sign | number | top);
}

// What storing values in a narrow format did to them. Functions add to it.
struct StoreCounts {
    std::int64_t saturated = 0;   // beyond the largest number, stored as that one (fp8)
    std::int64_t non_finite = 0;  // stored infinities and NaNs
    // Largest |restored - value| / |value| over the finite values that are not 0; infinite if one
    // of them was stored as an infinity (f16, bf16).
    float worst_relative_error = 0;

    friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

// Stores a row: the codes of value / scale. fp8 saturates, f16 and bf16 overflow to infinity, f32
// is a copy. `scale` is in [2^-100, 2^100], and 1 unless the dtype is fp8. The quotient is a float,
// and is rounded to a code once.
void encode_row(KvDtype dtype, const float* values /* (D) */, std::int64_t head_dim, float scale,
                std::byte* codes /* (D) of bytes_per_element(dtype) bytes */, StoreCounts& counts);

// Restores a row: code * scale. NaNs in `codes` give NaNs.
void decode_row(KvDtype dtype, const std::byte* codes /* (D) */, std::int64_t head_dim, float scale,
                float* values /* (D) */);

}  // namespace kvtape
