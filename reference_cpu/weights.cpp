#include "reference_cpu/weights.h"

#include <cstring>
#include <set>

#include "core/check.h"
#include "core/random.h"

namespace kvtape {
namespace {

using Shape = std::vector<std::int64_t>;

// Loads tensors and remembers their names, so that a tensor nobody asked for is noticed.
class Loader {
  public:
    explicit Loader(const SafetensorsFile& file) : file_(file) {}

    std::vector<float> load(const std::string& name, const Shape& shape) {
        used_.insert(name);
        return file_.load_f32(name, shape);
    }

    void refuse_unused() const {
        for (const std::string& name : file_.names()) {
            // Old checkpoints carry RoPE's frequencies, which the config already gives.
            if (used_.contains(name) || name.ends_with("rotary_emb.inv_freq")) continue;
            fail(file_.where(), ": tensor '", name,
                 "' belongs to no part of a Llama decoder; it would be ignored, so the model is "
                 "refused");
        }
    }

  private:
    const SafetensorsFile& file_;
    std::set<std::string> used_;
};

std::vector<float> random_matrix(Random& random, std::int64_t count, float range) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = random.uniform(-range, range);
    return values;
}

std::vector<float> ones(std::int64_t count) {
    return std::vector<float>(static_cast<std::size_t>(count), 1.0f);
}

}  // namespace

ModelWeights load_weights(const SafetensorsFile& file, const ModelConfig& config,
                          const BetweenLayers& between_layers) {
    const ModelShape& s = config.shape;
    const std::int64_t query_width = s.heads * s.head_dim;
    const std::int64_t kv_width = s.kv_heads * s.head_dim;
    Loader loader(file);

    ModelWeights weights;
    weights.embedding = loader.load("model.embed_tokens.weight", {s.vocab, s.hidden});
    for (std::int64_t i = 0; i < s.layers; ++i) {
        if (between_layers) between_layers();
        const std::string layer = "model.layers." + std::to_string(i) + ".";
        weights.layers.push_back({
            loader.load(layer + "input_layernorm.weight", {s.hidden}),
            loader.load(layer + "self_attn.q_proj.weight", {query_width, s.hidden}),
            loader.load(layer + "self_attn.k_proj.weight", {kv_width, s.hidden}),
            loader.load(layer + "self_attn.v_proj.weight", {kv_width, s.hidden}),
            loader.load(layer + "self_attn.o_proj.weight", {s.hidden, query_width}),
            loader.load(layer + "post_attention_layernorm.weight", {s.hidden}),
            loader.load(layer + "mlp.gate_proj.weight", {s.ffn, s.hidden}),
            loader.load(layer + "mlp.up_proj.weight", {s.ffn, s.hidden}),
            loader.load(layer + "mlp.down_proj.weight", {s.hidden, s.ffn}),
        });
    }
    weights.final_norm = loader.load("model.norm.weight", {s.hidden});

    const bool head_in_file = file.has("lm_head.weight");
    if (!head_in_file && !config.tie_word_embeddings) {
        fail(file.where(),
             ": config.json says tie_word_embeddings is false, but the file has no lm_head.weight; "
             "set it to true if the embedding is the head");
    }
    if (head_in_file) {
        weights.head = loader.load("lm_head.weight", {s.vocab, s.hidden});
        if (config.tie_word_embeddings) {
            if (std::memcmp(weights.head.data(), weights.embedding.data(),
                            weights.head.size() * sizeof(float)) != 0) {
                fail(file.where(),
                     ": config.json says tie_word_embeddings is true, but lm_head.weight differs "
                     "from model.embed_tokens.weight; set it to false to use the head");
            }
            weights.head.clear();
        }
    }
    loader.refuse_unused();
    return weights;
}

ModelWeights random_weights(const ModelShape& s, bool tied, std::uint64_t seed, float range) {
    validate(s);
    const std::int64_t query_width = s.heads * s.head_dim;
    const std::int64_t kv_width = s.kv_heads * s.head_dim;
    Random random(seed);
    const auto matrix = [&](std::int64_t outputs, std::int64_t inputs) {
        return random_matrix(random, outputs * inputs, range);
    };

    ModelWeights weights;
    weights.embedding = matrix(s.vocab, s.hidden);
    for (std::int64_t i = 0; i < s.layers; ++i) {
        LayerWeights layer;
        layer.attention_norm = ones(s.hidden);
        layer.q = matrix(query_width, s.hidden);
        layer.k = matrix(kv_width, s.hidden);
        layer.v = matrix(kv_width, s.hidden);
        layer.o = matrix(s.hidden, query_width);
        layer.mlp_norm = ones(s.hidden);
        layer.gate = matrix(s.ffn, s.hidden);
        layer.up = matrix(s.ffn, s.hidden);
        layer.down = matrix(s.hidden, s.ffn);
        weights.layers.push_back(std::move(layer));
    }
    weights.final_norm = ones(s.hidden);
    if (!tied) weights.head = matrix(s.vocab, s.hidden);
    return weights;
}

}  // namespace kvtape
