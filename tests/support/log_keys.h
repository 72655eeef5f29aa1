// Attention with an answer that can be checked by hand ("log keys"): position j has the key ln(j +
// 1) and the value j + 1, the query is 1. Softmax weights are then proportional to j + 1, and
// causal attention at position p gives sum (j + 1)^2 / sum (j + 1) = (2 p + 3) / 3. A row that is
// lost, doubled, stale or from the future changes the fraction.
//
// Two ways to run it: the attention kernel by itself on rows stored here, and a whole model whose
// weights are chosen so that its logits show the fraction (log_key_model), which also passes the
// mask, the chunks and the batch of forward().
#pragma once

#include <cmath>
#include <vector>

#include "reference_cpu/attention.h"
#include "reference_cpu/model.h"
#include "tracer/recorder.h"

namespace kvtape {

// Attention alone: one layer, one head. Only `heads`, `kv_heads` and `head_dim` matter.
inline constexpr ModelShape log_key_shape{1, 2, 1, 1, 2, 1, 1};

inline double log_key_answer(std::int64_t position) {
    return static_cast<double>(2 * position + 3) / 3;
}

// Stores the row of one position, which has room: weight w has the key ln w.
inline void store_log_key(KvCache& cache, SequenceId sequence, std::int64_t position, double weight,
                          float value) {
    NullTracer::Worker nobody;
    KvView<NullTracer> view(cache, nobody);
    const float key[2] = {static_cast<float>(std::log(weight)), 0};
    const float values[2] = {value, 0};
    view.store({sequence, 0, 0, Kind::key}, position, key);
    view.store({sequence, 0, 0, Kind::value}, position, values);
}

// The answer of the query at `position` when it sees `visible_keys` keys.
inline float attend_log_keys(KvCache& cache, SequenceId sequence, std::int64_t position,
                             std::int64_t visible_keys, std::int64_t split = attention_split) {
    NullTracer::Worker nobody;
    KvView<NullTracer> view(cache, nobody);
    AttentionScratch<float> scratch(log_key_shape, split);
    const float query[2] = {1, 0};
    float out[2];
    attend(view, log_key_shape, {sequence, 0, position, visible_keys, {0, 1}, 1.0f}, query, out,
           scratch);
    return out[0];
}

// The next `count` positions in one pass: all rows are stored first, then every query of the chunk
// is answered, as forward() does.
inline std::vector<float> log_key_chunk(KvCache& cache, std::int64_t count, SequenceId sequence = 0,
                                        std::int64_t begin = -1) {
    if (begin < 0) begin = cache.length(sequence);
    const std::int64_t end = begin + count;
    cache.reserve(sequence, end);
    for (std::int64_t p = begin; p < end; ++p) {
        store_log_key(cache, sequence, p, static_cast<double>(p + 1), static_cast<float>(p + 1));
    }
    std::vector<float> answers;
    for (std::int64_t p = begin; p < end; ++p) {
        answers.push_back(attend_log_keys(cache, sequence, p, p + 1));
    }
    cache.commit(sequence, end);
    return answers;
}

// The whole model. Token j stands at position j. Channels of the residual stream, times `unit`:
//   0  ln(j + 1)      2  1                                   4  the answer, written by attention
//   1  j + 1          3  what makes the mean square 1, so that the first norm changes nothing
// RoPE with base 1e12 turns the last pair of D = 16 by 3e-11 radians per position: not at all.
inline constexpr std::int64_t log_key_tokens = 32;

inline Model<float> log_key_model() {
    constexpr ModelShape shape{1, 16, 1, 1, 16, 1, log_key_tokens};
    constexpr std::size_t d = 16, D = 16, still = 7;  // component that RoPE leaves alone
    constexpr float unit = 1.0f / 16;
    ModelConfig config;
    config.shape = shape;
    config.max_model_len = log_key_tokens;
    config.rope_theta = 1e12;

    ModelWeights w = random_weights(shape, false, 1);
    LayerWeights& layer = w.layers[0];
    for (auto* matrix : {&w.embedding, &w.head, &layer.q, &layer.k, &layer.v, &layer.o, &layer.gate,
                         &layer.up, &layer.down}) {
        std::fill(matrix->begin(), matrix->end(), 0.0f);
    }
    for (std::size_t j = 0; j < static_cast<std::size_t>(log_key_tokens); ++j) {
        float* x = &w.embedding[j * d];
        const double log_j = std::log(static_cast<double>(j + 1));
        const double known = (log_j * log_j + static_cast<double>((j + 1) * (j + 1)) + 1) / 256;
        x[0] = static_cast<float>(log_j) * unit;
        x[1] = static_cast<float>(j + 1) * unit;
        x[2] = unit;
        x[3] = static_cast<float>(std::sqrt(16.0 - known));
    }
    layer.k[still * d + 0] = 1 / unit;
    layer.v[0 * d + 1] = 1 / unit;
    layer.q[still * d + 2] = 4 / unit;  // the scale is 1 / sqrt(D) = 1/4
    layer.o[4 * D + 0] = unit;
    w.head[0 * d + 4] = 1 / unit;  // logit 0 / logit 1 = the answer
    w.head[1 * d + 2] = 1 / unit;
    return Model<float>(config, w);
}

// Reads the answer from a row of that model's logits.
inline double log_key_answer_of(const float* logits /* (V) */) {
    return static_cast<double>(logits[0]) / static_cast<double>(logits[1]);
}

}  // namespace kvtape
