// How far logits in float32 may be from exact ones.
#pragma once

#include <cstdint>

#include "core/shape.h"

namespace kvtape {

// Every rounding moves a number by up to 2^-24 of itself, and the numbers that reach a logit have
// gone through so many of them one after the other:
//   per layer   two norms (d + 5 each), Q or K (d), rope (3), q.k (D), softmax (10 + n), p.v (n),
//               output (H D), gate or up (d), SiLU (5), down (F), two residual additions
//   at the end  a norm (d + 5) and the head (d)
// This takes all of them in the same direction, each magnified to no more than the largest logit.
inline double rounding_bound(const ModelShape& s, std::int64_t n /* tokens */,
                             double largest_logit) {
    const std::int64_t attention = s.hidden + 3 + s.head_dim + 10 + 2 * n + s.heads * s.head_dim;
    const std::int64_t mlp = s.hidden + 5 + s.ffn;
    const std::int64_t per_layer = 2 * (s.hidden + 5) + attention + mlp + 2;
    const std::int64_t roundings = s.layers * per_layer + 2 * s.hidden + 5;
    return static_cast<double>(roundings) * 0x1p-24 * largest_logit;
}

}  // namespace kvtape
