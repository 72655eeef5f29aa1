// exp, log, sin and cos that give the same bits everywhere.
//
// The functions of the C library differ between libraries, between their vector variants, and on a
// GPU. These use only operations that IEEE 754 rounds exactly (+, -, *, /, fma), in one written
// order, and integer operations on bits, so g++, clang++ and nvcc, any optimisation level and any
// vector width must agree. No product is added outside an fma, and none is returned to a caller who
// might add it (exact_exp ends in an fma with 0): there is nothing for a compiler to contract, as
// nvcc does unless told otherwise. Only -ffast-math and flushing subnormals to zero would change
// the results.
//
// Each one follows the same plan: bring the argument into a small interval, sum a Taylor series
// there (its coefficients are 1/k!, nothing to look up), undo the first step.
//
// There are two sizes. float: softmax and SiLU, once per key; free of branches, so that a loop over
// an array becomes vector code. double: RoPE tables, once per model.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/host_device.h"

namespace kvtape {

namespace detail {

// c0 + x * (c1 + x * (c2 + ...)), innermost first.
template <class Scalar>
KVTAPE_HOST_DEVICE Scalar polynomial(Scalar, Scalar c0) {
    return c0;
}
template <class Scalar, class... Rest>
KVTAPE_HOST_DEVICE Scalar polynomial(Scalar x, Scalar c0, Rest... rest) {
    return std::fma(x, polynomial(x, rest...), c0);
}

// 2^exponent, for exponents of normal numbers.
KVTAPE_HOST_DEVICE constexpr float two_to(std::int32_t exponent) {
    return bits_as<float>((exponent + 127) << 23);
}
KVTAPE_HOST_DEVICE constexpr double two_to(std::int64_t exponent) {
    return bits_as<double>((exponent + 1023) << 52);
}

// e_to_r * 2^exponent, rounded once. 2^exponent itself need not be a normal number, its two halves
// are, and the first product is exact.
KVTAPE_HOST_DEVICE inline float times_two_to(float e_to_r, std::int32_t exponent) {
    const std::int32_t half = exponent >> 1;
    return std::fma(e_to_r * two_to(half), two_to(exponent - half), 0.0f);
}
KVTAPE_HOST_DEVICE inline double times_two_to(double e_to_r, std::int64_t exponent) {
    const std::int64_t half = exponent >> 1;
    return std::fma(e_to_r * two_to(half), two_to(exponent - half), 0.0);
}

// Beside 1.5 * 2^23 (2^52 for double) neighbouring numbers are 1 apart. Adding it rounds to an
// integer, which can then be read from the last bits, or as a number after subtracting it again.
constexpr float round_float = 0x1.8p23f;
constexpr double round_double = 0x1.8p52;

// ln 2 and pi/2, each split in two: `low` is what `high` lacks. n ln 2 is subtracted from x in two
// steps, and the first is exact: ln2_high has so few bits that n * ln2_high is, and pi/2 is treated
// at its place of use.
constexpr float ln2_high_float = 0x1.62e4p-1f;
constexpr float ln2_low_float = 0x1.7f7d1cp-20f;
constexpr double ln2_high = 0x1.62e42fefap-1;
constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
constexpr double half_pi_high = 0x1.921fb54442d18p0;
constexpr double half_pi_low = 0x1.1a62633145c07p-54;

}  // namespace detail

// e^x, off by less than 1 unit in the last place. 0 gives exactly 1, -infinity gives 0, overflow
// infinity, NaN gives NaN; results below 2^-126 are subnormal, not flushed.
KVTAPE_HOST_DEVICE inline float exact_exp(float x) {
    // Outside [-104, 89] the result is 0 or infinity anyway. NaN passes both comparisons.
    x = x < -104.0f ? -104.0f : x;
    x = x > 89.0f ? 89.0f : x;

    // x = n ln 2 + r with |r| <= ln 2 / 2, so e^x = 2^n e^r.
    const float shifted = std::fma(x, 0x1.715476p0f, detail::round_float);  // 1 / ln 2
    const float n = shifted - detail::round_float;
    float r = std::fma(n, -detail::ln2_high_float, x);
    r = std::fma(n, -detail::ln2_low_float, r);

    // The first term left out, r^8 / 8!, is below 2^-27.
    const float e_to_r = detail::polynomial(r, 1.0f, 1.0f, 1 / 2.0f, 1 / 6.0f, 1 / 24.0f,
                                            1 / 120.0f, 1 / 720.0f, 1 / 5040.0f);

    const std::int32_t exponent =
        bits_as<std::int32_t>(shifted) - bits_as<std::int32_t>(detail::round_float);
    return detail::times_two_to(e_to_r, exponent);
}

// e^x, relative error below 5e-16, for results that are normal doubles: x in [-708, 709].
KVTAPE_HOST_DEVICE inline double exact_exp(double x) {
    const double shifted = std::fma(x, 0x1.71547652b82fep0, detail::round_double);  // 1 / ln 2
    const double n = shifted - detail::round_double;
    double r = std::fma(n, -detail::ln2_high, x);
    r = std::fma(n, -detail::ln2_low, r);

    // The first term left out, r^14 / 14!, is below 2^-57.
    const double e_to_r = detail::polynomial(
        r, 1.0, 1.0, 1 / 2.0, 1 / 6.0, 1 / 24.0, 1 / 120.0, 1 / 720.0, 1 / 5040.0, 1 / 40320.0,
        1 / 362880.0, 1 / 3628800.0, 1 / 39916800.0, 1 / 479001600.0, 1 / 6227020800.0);

    const std::int64_t exponent =
        bits_as<std::int64_t>(shifted) - bits_as<std::int64_t>(detail::round_double);
    return detail::times_two_to(e_to_r, exponent);
}

// Natural logarithm, relative error below 5e-16, for positive normal x.
KVTAPE_HOST_DEVICE inline double exact_log(double x) {
    // x = 2^n m with sqrt(1/2) <= m < sqrt(2), found on the bits: the exponent field counts from
    // sqrt(1/2) instead of from 1.
    const std::int64_t bits = bits_as<std::int64_t>(x);
    const std::int64_t root_half_bits = bits_as<std::int64_t>(0x1.6a09e667f3bcdp-1);
    const std::int64_t exponent = (bits - root_half_bits) >> 52;
    const double m = bits_as<double>(bits - exponent * (std::int64_t{1} << 52));
    const double n = static_cast<double>(exponent);

    // ln m = 2 artanh(s) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...) with s = (m - 1) / (m + 1), |s| <
    // 0.172. The first term left out, s^22 / 23, is below 2^-60.
    const double s = (m - 1) / (m + 1);
    const double s2 = s * s;
    const double series = s2 * detail::polynomial(s2, 1 / 3.0, 1 / 5.0, 1 / 7.0, 1 / 9.0, 1 / 11.0,
                                                  1 / 13.0, 1 / 15.0, 1 / 17.0, 1 / 19.0, 1 / 21.0);
    const double ln_m = std::fma(2 * s, series, 2 * s);
    return std::fma(n, detail::ln2_high, std::fma(n, detail::ln2_low, ln_m));
}

struct SinCos {
    double sin;
    double cos;
};

// sin x and cos x, error below 2e-16, for |x| <= 2^20 radians.
KVTAPE_HOST_DEVICE inline SinCos exact_sin_cos(double x) {
    // x = n pi/2 + r with |r| <= pi/4. The first fma is exact: x and n * half_pi_high are multiples
    // of the same small power of two and nearly cancel.
    const double shifted = std::fma(x, 0x1.45f306dc9c883p-1, detail::round_double);  // 2 / pi
    const double n = shifted - detail::round_double;
    double r = std::fma(n, -detail::half_pi_high, x);
    r = std::fma(n, -detail::half_pi_low, r);

    // The first terms left out, r^19 / 19! and r^18 / 18!, are below 2^-58.
    const double r2 = r * r;
    const double sin_series =
        r2 * detail::polynomial(r2, -1 / 6.0, 1 / 120.0, -1 / 5040.0, 1 / 362880.0, -1 / 39916800.0,
                                1 / 6227020800.0, -1 / 1307674368000.0, 1 / 355687428096000.0);
    const double sin_r = std::fma(r, sin_series, r);
    const double cos_r =
        detail::polynomial(r2, 1.0, -1 / 2.0, 1 / 24.0, -1 / 720.0, 1 / 40320.0, -1 / 3628800.0,
                           1 / 479001600.0, -1 / 87178291200.0, 1 / 20922789888000.0);

    // Each quarter turn takes (sin, cos) to (cos, -sin).
    switch (bits_as<std::int64_t>(shifted) & 3) {
        case 0:
            return {sin_r, cos_r};
        case 1:
            return {cos_r, -sin_r};
        case 2:
            return {-sin_r, -cos_r};
        default:
            return {-cos_r, sin_r};
    }
}
KVTAPE_HOST_DEVICE inline double exact_sin(double x) {
    return exact_sin_cos(x).sin;
}
KVTAPE_HOST_DEVICE inline double exact_cos(double x) {
    return exact_sin_cos(x).cos;
}

// x * sigmoid(x), the activation of the MLP. For finite x; large negative x give -0. A scalar type
// other than float brings its own exact_exp.
template <class Scalar>
KVTAPE_HOST_DEVICE Scalar silu(Scalar x) {
    return x / (Scalar(1) + exact_exp(-x));
}

}  // namespace kvtape
