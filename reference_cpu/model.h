// A model ready to compute with: the weights packed for the kernels, the RoPE table, the config.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rope.h"
#include "reference_cpu/config.h"
#include "reference_cpu/linear.h"
#include "reference_cpu/weights.h"

namespace kvtape {

template <class Scalar>
struct Layer {
    std::vector<float> attention_norm;  // (d)
    PackedLinear<Scalar> q;             // (H D, d)
    PackedLinear<Scalar> k;             // (G D, d)
    PackedLinear<Scalar> v;             // (G D, d)
    PackedLinear<Scalar> o;             // (d, H D)
    std::vector<float> mlp_norm;        // (d)
    PackedLinear<Scalar> gate;          // (F, d)
    PackedLinear<Scalar> up;            // (F, d)
    PackedLinear<Scalar> down;          // (d, F)
};

template <class Scalar>
struct Model {
    Model(const ModelConfig& model_config, const ModelWeights& weights,
          const BetweenLayers& between_layers = {});

    ModelConfig config;
    std::vector<float> embedding;  // (V, d), for looking tokens up
    std::vector<Layer<Scalar>> layers;
    std::vector<float> final_norm;  // (d)
    PackedLinear<Scalar> head;      // (V, d); tied: a packed copy of the embedding
    RopeTable rope;
    float attention_scale;  // 1 / sqrt(D)

    // Different weights in the model; a tied head is counted once.
    std::int64_t parameters() const;
};

template <class Scalar>
Model<Scalar>::Model(const ModelConfig& model_config, const ModelWeights& weights,
                     const BetweenLayers& between_layers)
    : config(model_config),
      embedding(weights.embedding),
      final_norm(weights.final_norm),
      head((weights.head.empty() ? weights.embedding : weights.head).data(),
           model_config.shape.vocab, model_config.shape.hidden),
      rope(make_rope_table(model_config.shape.head_dim, model_config.max_model_len,
                           model_config.rope_theta)),
      attention_scale(1.0f / std::sqrt(static_cast<float>(model_config.shape.head_dim))) {
    const ModelShape& s = config.shape;
    const std::int64_t query_width = s.heads * s.head_dim;
    const std::int64_t kv_width = s.kv_heads * s.head_dim;
    for (const LayerWeights& w : weights.layers) {
        if (between_layers) between_layers();
        layers.push_back({w.attention_norm,
                          {w.q.data(), query_width, s.hidden},
                          {w.k.data(), kv_width, s.hidden},
                          {w.v.data(), kv_width, s.hidden},
                          {w.o.data(), s.hidden, query_width},
                          w.mlp_norm,
                          {w.gate.data(), s.ffn, s.hidden},
                          {w.up.data(), s.ffn, s.hidden},
                          {w.down.data(), s.hidden, s.ffn}});
    }
}

template <class Scalar>
std::int64_t Model<Scalar>::parameters() const {
    const ModelShape& s = config.shape;
    const std::int64_t attention = 2 * s.hidden * (s.heads + s.kv_heads) * s.head_dim;
    const std::int64_t per_layer = attention + 3 * s.hidden * s.ffn + 2 * s.hidden;
    const std::int64_t tables = s.vocab * s.hidden * (config.tie_word_embeddings ? 1 : 2);
    return tables + s.layers * per_layer + s.hidden;
}

// Loads DIR/config.json and DIR/model.safetensors. Throws Error when either is missing or
// malformed. `rope_theta`: see parse_config.
Model<float> load_model(const std::string& directory,
                        std::optional<double> rope_theta = std::nullopt,
                        const BetweenLayers& between_layers = {});

}  // namespace kvtape
