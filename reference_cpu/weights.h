// The numbers of a model, as they come from a file or from a seed: plain row-major arrays, one per
// tensor. `Model` (reference_cpu/model.h) packs them for the kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "reference_cpu/config.h"
#include "reference_cpu/safetensors.h"

namespace kvtape {

struct LayerWeights {
    std::vector<float> attention_norm;  // (d)
    std::vector<float> q;               // (H D, d)
    std::vector<float> k;               // (G D, d)
    std::vector<float> v;               // (G D, d)
    std::vector<float> o;               // (d, H D)
    std::vector<float> mlp_norm;        // (d)
    std::vector<float> gate;            // (F, d)
    std::vector<float> up;              // (F, d)
    std::vector<float> down;            // (d, F)
};

struct ModelWeights {
    std::vector<float> embedding;  // (V, d)
    std::vector<LayerWeights> layers;
    std::vector<float> final_norm;  // (d)
    std::vector<float> head;        // (V, d); empty: the embedding is used (tied)
};

// Called before each layer is loaded. What it throws ends the loading.
using BetweenLayers = std::function<void()>;

// Reads the tensors of a Hugging Face Llama checkpoint. Throws Error for a tensor that is missing,
// has another shape or holds NaN or infinity, and for tensors the decoder would ignore. With
// `tie_word_embeddings`, a head in the file must be equal to the embedding, bit for bit; a
// different one is refused, because one of the two would be dropped.
ModelWeights load_weights(const SafetensorsFile& file, const ModelConfig& config,
                          const BetweenLayers& between_layers = {});

// Weights uniform in [-range, range) from a seed, the same on every machine; norms are 1. For tests
// and lessons that need a model of a certain shape but not its words.
ModelWeights random_weights(const ModelShape& shape, bool tied, std::uint64_t seed,
                            float range = 0.5f);

}  // namespace kvtape
