// Models small enough that a test can afford hundreds of passes, in every layout of heads that the
// decoder claims to support.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "reference_cpu/model.h"

namespace kvtape {

// "TL": 2 layers, 4 query heads that share 2 KV heads, untied head. K and V take 128 bytes per
// token in f32; linear layers cost 9216 FLOPs per token, the head 1024.
inline constexpr ModelShape tiny_llama{
    .layers = 2, .hidden = 16, .heads = 4, .kv_heads = 2, .head_dim = 4, .ffn = 32, .vocab = 32};

struct HeadLayout {
    const char* name;
    ModelShape shape;
};

// D = 4 does not fill the eight lanes of a dot product, 6, 10 and 12 leave a rest, 8 and 16 do not.
// Widths are not multiples of a panel of the linear layer.
inline constexpr HeadLayout head_layouts[] = {
    {"TinyLlama", tiny_llama},
    {"MultiHead", {2, 16, 4, 4, 4, 32, 32}},
    {"MultiQuery", {2, 16, 4, 1, 4, 32, 32}},
    {"WideHeads", {2, 16, 4, 2, 12, 24, 32}},    // H D = 48, not d
    {"NarrowHeads", {1, 20, 3, 3, 6, 12, 33}},   // H D = 18, not d
    {"OddGroup", {2, 18, 5, 1, 10, 20, 37}},     // 5 query heads per KV head
    {"FullLanes", {3, 24, 6, 2, 8, 40, 50}},     // D = 8
    {"TwoRegisters", {2, 32, 6, 3, 16, 48, 70}}  // D = 16
};

inline ModelConfig config_of(const ModelShape& shape, std::int64_t max_model_len = 64,
                             bool tied = false) {
    ModelConfig config;
    config.shape = shape;
    config.max_model_len = max_model_len;
    config.rms_norm_eps = 1e-5f;
    config.rope_theta = 10000;
    config.tie_word_embeddings = tied;
    return config;
}

// Norm weights that are not all 1, so that one that is left out or mixed up shows.
inline ModelWeights tiny_weights(const ModelShape& shape, bool tied = false,
                                 std::uint64_t seed = 1) {
    ModelWeights weights = random_weights(shape, tied, seed);
    Random random(seed + 1000);
    const auto vary = [&](std::vector<float>& norm /* (d) */) {
        for (float& weight : norm) weight = random.uniform(0.5f, 1.5f);
    };
    for (LayerWeights& layer : weights.layers) {
        vary(layer.attention_norm);
        vary(layer.mlp_norm);
    }
    vary(weights.final_norm);
    return weights;
}

template <class Scalar = float>
Model<Scalar> tiny_model(const ModelShape& shape, std::int64_t max_model_len = 64,
                         std::uint64_t seed = 1) {
    return Model<Scalar>(config_of(shape, max_model_len), tiny_weights(shape, false, seed));
}

inline std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocab,
                                               std::uint64_t seed) {
    Random random(seed);
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
    for (std::int32_t& token : tokens) {
        token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocab)));
    }
    return tokens;
}

}  // namespace kvtape
