// The small kernels of a layer, each on one row. The large ones have files of their own: linear.h
// (matrix products) and attention.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/exact_math.h"
#include "reference_cpu/lanes.h"

namespace kvtape {

// out = x / sqrt(mean(x^2) + eps) * weight. (Zhang and Sennrich 2019, arXiv 1910.07467.)
// 4 d + 3 FLOPs.
template <class Scalar>
void rms_norm(const Scalar* x /* (d) */, const float* weight /* (d) */, float eps, std::int64_t d,
              Scalar* out /* (d) */) {
    using std::sqrt;
    const Scalar mean = dot(x, x, d) / Scalar(static_cast<float>(d));
    const Scalar scale = Scalar(1) / sqrt(mean + Scalar(eps));
    for (std::int64_t i = 0; i < d; ++i) out[i] = x[i] * scale * Scalar(weight[i]);
}

// gate = silu(gate) * up, the gated unit of SwiGLU (Shazeer 2020, arXiv 2002.05202). 4 F FLOPs.
template <class Scalar>
void swiglu(Scalar* gate /* (F) */, const Scalar* up /* (F) */, std::int64_t ffn) {
    for (std::int64_t i = 0; i < ffn; ++i) gate[i] = silu(gate[i]) * up[i];
}

// x += y, into the residual stream. d FLOPs.
template <class Scalar>
void add(Scalar* x /* (d) */, const Scalar* y /* (d) */, std::int64_t d) {
    for (std::int64_t i = 0; i < d; ++i) x[i] = x[i] + y[i];
}

}  // namespace kvtape
