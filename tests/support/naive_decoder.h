// The same model written down a second time, as plainly as possible: double precision, loops over
// indices, the exp and cos of the C library, no cache, no chunks, no kernel of kvtape. Slow and
// obvious; an oracle for what the numbers mean, where the other tests ask only whether they are
// equal.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "reference_cpu/config.h"
#include "reference_cpu/weights.h"

namespace kvtape::naive {

using Row = std::vector<double>;

inline Row times(const std::vector<float>& weights /* (outputs, inputs) */, const Row& x) {
    Row y(weights.size() / x.size(), 0.0);
    for (std::size_t o = 0; o < y.size(); ++o) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            y[o] += static_cast<double>(weights[o * x.size() + i]) * x[i];
        }
    }
    return y;
}

inline Row rms_norm(const Row& x, const std::vector<float>& weight, double eps) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    const double rms = std::sqrt(squares / static_cast<double>(x.size()) + eps);
    Row y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / rms * static_cast<double>(weight[i]);
    return y;
}

// Turns every head of a row of q or k by its position.
inline void rope(Row& row, std::size_t head_dim, std::size_t position, double theta) {
    const std::size_t half = head_dim / 2;
    for (std::size_t head = 0; head < row.size(); head += head_dim) {
        for (std::size_t i = 0; i < half; ++i) {
            const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
            const double angle = static_cast<double>(position) * std::pow(theta, exponent);
            const double a = row[head + i];
            const double b = row[head + i + half];
            row[head + i] = a * std::cos(angle) - b * std::sin(angle);
            row[head + i + half] = b * std::cos(angle) + a * std::sin(angle);
        }
    }
}

// One query over the rows 0 .. k.size() - 1.
inline Row attention(const Row& q, std::span<const Row> k, std::span<const Row> v,
                     const ModelShape& s) {
    const auto D = static_cast<std::size_t>(s.head_dim);
    const auto group = static_cast<std::size_t>(s.heads / s.kv_heads);
    Row out(q.size(), 0.0);
    for (std::size_t h = 0; h < static_cast<std::size_t>(s.heads); ++h) {
        const std::size_t kv = h / group * D;
        Row weight(k.size(), 0.0);
        double largest = -INFINITY;
        for (std::size_t j = 0; j < k.size(); ++j) {
            for (std::size_t i = 0; i < D; ++i) weight[j] += q[h * D + i] * k[j][kv + i];
            weight[j] /= std::sqrt(static_cast<double>(D));
            largest = std::max(largest, weight[j]);
        }
        double sum = 0;
        for (double& w : weight) sum += w = std::exp(w - largest);
        for (std::size_t j = 0; j < k.size(); ++j) {
            for (std::size_t i = 0; i < D; ++i) out[h * D + i] += weight[j] / sum * v[j][kv + i];
        }
    }
    return out;
}

inline void add(Row& x, const Row& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Logits of every position: (T, V).
inline std::vector<Row> logits(const ModelConfig& config, const ModelWeights& weights,
                               std::span<const std::int32_t> tokens) {
    const ModelShape& s = config.shape;
    const auto d = static_cast<std::size_t>(s.hidden);
    const auto D = static_cast<std::size_t>(s.head_dim);
    const double eps = static_cast<double>(config.rms_norm_eps);

    std::vector<Row> x;  // (T, d)
    for (const std::int32_t token : tokens) {
        const float* row = weights.embedding.data() + static_cast<std::size_t>(token) * d;
        x.emplace_back(row, row + d);
    }
    for (const LayerWeights& layer : weights.layers) {
        std::vector<Row> q, k, v;
        for (std::size_t p = 0; p < x.size(); ++p) {
            const Row normed = rms_norm(x[p], layer.attention_norm, eps);
            q.push_back(times(layer.q, normed));
            k.push_back(times(layer.k, normed));
            v.push_back(times(layer.v, normed));
            rope(q.back(), D, p, config.rope_theta);
            rope(k.back(), D, p, config.rope_theta);
        }
        for (std::size_t p = 0; p < x.size(); ++p) {
            add(x[p], times(layer.o, attention(q[p], std::span(k).first(p + 1),
                                               std::span(v).first(p + 1), s)));
            const Row normed = rms_norm(x[p], layer.mlp_norm, eps);
            Row gate = times(layer.gate, normed);
            const Row up = times(layer.up, normed);
            for (std::size_t i = 0; i < gate.size(); ++i) {
                gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
            }
            add(x[p], times(layer.down, gate));
        }
    }
    const std::vector<float>& head = weights.head.empty() ? weights.embedding : weights.head;
    std::vector<Row> result;
    for (const Row& row : x) result.push_back(times(head, rms_norm(row, weights.final_norm, eps)));
    return result;
}

}  // namespace kvtape::naive
