// Sums over the D (or d) numbers of one vector, in one order that every machine follows.
//
// A sum of floats depends on its order, so the order is part of the result. Eight partial sums
// ("lanes") run side by side: lane j adds elements j, j + 8, j + 16, ... in turn; then the lanes
// are added in a fixed tree. Eight lanes are one AVX2 register. Machines with wider registers use
// the same eight lanes, because sixteen would be another order and so another result.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <Eigen/Core>

namespace kvtape {

inline constexpr std::int64_t lane_count = 8;

// Adds the first `used` of eight lanes: lane j += lane j + 4, then + 2, then + 1. Exactly
// min(used, 8) - 1 additions.
template <class Scalar>
Scalar sum_of_lanes(Scalar* lanes /* (8), overwritten */, std::int64_t used) {
    for (std::int64_t half = lane_count / 2; half > 0; half /= 2) {
        for (std::int64_t j = 0; j < half && j + half < used; ++j) {
            lanes[j] = lanes[j] + lanes[j + half];
        }
        used = std::min(used, half);
    }
    return lanes[0];
}

// Sum of a[i] * b[i]: n multiplies and n - 1 adds. n >= 1. `b` may be cached rows, which are floats
// whatever the kernels compute with.
template <class Scalar, class Element>
Scalar dot(const Scalar* a /* (n) */, const Element* b /* (n) */, std::int64_t n) {
    using std::fma;
    Scalar lanes[lane_count];
    for (std::int64_t i = 0; i < n; ++i) {
        Scalar& lane = lanes[i % lane_count];
        lane = i < lane_count ? a[i] * Scalar(b[i]) : fma(a[i], Scalar(b[i]), lane);
    }
    return sum_of_lanes(lanes, n);
}

// The same sum in the same order, with the eight lanes in one register.
template <>
inline float dot<float, float>(const float* a /* (n) */, const float* b /* (n) */, std::int64_t n) {
    using Lanes = Eigen::internal::Packet8f;
    using Eigen::internal::ploadu;
    alignas(32) float lanes[lane_count];
    const std::int64_t in_registers = n - n % lane_count;
    if (in_registers > 0) {
        Lanes sum = Eigen::internal::pmul(ploadu<Lanes>(a), ploadu<Lanes>(b));
        for (std::int64_t i = lane_count; i < in_registers; i += lane_count) {
            sum = Eigen::internal::pmadd(ploadu<Lanes>(a + i), ploadu<Lanes>(b + i), sum);
        }
        Eigen::internal::pstore(lanes, sum);
    }
    for (std::int64_t i = in_registers; i < n; ++i) {
        float& lane = lanes[i % lane_count];
        lane = i < lane_count ? a[i] * b[i] : std::fma(a[i], b[i], lane);
    }
    return sum_of_lanes(lanes, n);
}

// Sum of a[i]: n - 1 adds. n >= 1.
template <class Scalar>
Scalar sum(const Scalar* a /* (n) */, std::int64_t n) {
    Scalar lanes[lane_count];
    for (std::int64_t i = 0; i < n; ++i) {
        Scalar& lane = lanes[i % lane_count];
        lane = i < lane_count ? a[i] : lane + a[i];
    }
    return sum_of_lanes(lanes, n);
}

}  // namespace kvtape
