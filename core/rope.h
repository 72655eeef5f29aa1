// Rotary position embedding: each pair of components of a query or key is turned by an angle
// proportional to the position, so that q.k depends on the distance of the two tokens.
//
// Which components form a pair is a convention, and checkpoints are trained for one of the two:
// half-split (used here, and by safetensors of the Llama family) pairs i with i + D/2; interleaved
// pairs 2i with 2i + 1. At position 0 nothing turns, so a mix-up shows only later in the text.
//
// Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding".
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/host_device.h"

namespace kvtape {

// Cosines and sines of the angle position * base^(-2 i / D) of pair i.
struct RopeTable {
    std::int64_t head_dim = 0;   // D
    std::int64_t positions = 0;  // T
    std::vector<float> cos;      // (T, D/2)
    std::vector<float> sin;      // (T, D/2)

    const float* cos_row(std::int64_t position) const {  // (D/2)
        return cos.data() + position * (head_dim / 2);
    }
    const float* sin_row(std::int64_t position) const {  // (D/2)
        return sin.data() + position * (head_dim / 2);
    }
};

// exact_sin_cos is accurate up to so many radians, and pair 0 turns by one radian per position.
inline constexpr std::int64_t most_rope_positions = std::int64_t{1} << 20;

// Computed in double with core/exact_math.h and rounded once, so the table has the same bits on
// every machine. head_dim is even, 0 <= positions <= most_rope_positions, base (`rope_theta`) in
// [1, 1e12].
RopeTable make_rope_table(std::int64_t head_dim, std::int64_t positions, double base);

// Turns the row in place. 4 multiplies, 1 add and 1 subtract per pair: 3 D FLOPs.
template <class Scalar>
KVTAPE_HOST_DEVICE void rotate_half_split(Scalar* row /* (D) */, const float* cos /* (D/2) */,
                                          const float* sin /* (D/2) */, std::int64_t head_dim) {
    using std::fma;
    const std::int64_t half = head_dim / 2;
    for (std::int64_t i = 0; i < half; ++i) {
        const Scalar c(cos[i]);
        const Scalar s(sin[i]);
        const Scalar x = row[i];
        const Scalar y = row[i + half];
        row[i] = fma(x, c, -(y * s));
        row[i + half] = fma(y, c, x * s);
    }
}

}  // namespace kvtape
