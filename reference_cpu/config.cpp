#include "reference_cpu/config.h"

#include <algorithm>
#include <iterator>

#include "core/check.h"
#include "core/rope.h"
#include "reference_cpu/input_file.h"
#include "reference_cpu/json_input.h"

namespace kvtape {
namespace {

using nlohmann::json;

constexpr std::int64_t largest_file_bytes = 1 << 20;
constexpr std::int64_t largest_size = 1 << 24;  // of anything counted in a config
constexpr double default_rope_theta = 10000;

// What other families call things that change the size of the cache: layers without K and V, layers
// that share them, and other names for the number of KV heads.
constexpr const char* keys_of_other_caches[] = {"layers_block_type",
                                                "block_types",
                                                "hybrid_override_pattern",
                                                "attn_layer_period",
                                                "attn_layer_indices",
                                                "attn_type_list",
                                                "full_attention_interval",
                                                "linear_attn_config",
                                                "attention_chunk_size",
                                                "cross_attention_layers",
                                                "use_cla",
                                                "is_encoder_decoder",
                                                "multi_query",
                                                "multi_query_attention",
                                                "num_query_groups",
                                                "block_configs"};

// Families keep inventing such keys (num_kv_heads, n_head_kv, num_kv_shared_layers, ...). One that
// nobody here has heard of is better refused than left out of the arithmetic.
bool may_change_the_cache(const std::string& key) {
    if (key == "sliding_window" || key == "use_sliding_window") return false;  // read elsewhere
    const auto has = [&](const char* part) { return key.find(part) != std::string::npos; };
    return std::count(std::begin(keys_of_other_caches), std::end(keys_of_other_caches), key) > 0 ||
           (has("kv") && !has("qkv")) || has("sliding_window") || has("mamba");
}

void refuse_if_true(const JsonFields& config, const std::string& key, const char* remedy) {
    if (config.optional_bool(key).value_or(false)) {
        config.refuse(key, remedy);
    }
}

// L, H, G and D, which both readers need.
KvFootprintInput read_kv_sizes(const JsonFields& config) {
    KvFootprintInput sizes;
    sizes.layers = config.integer("num_hidden_layers", 1, largest_size);
    sizes.heads = config.integer("num_attention_heads", 1, largest_size);
    if (const auto given = config.optional_integer("num_key_value_heads", 0, largest_size)) {
        sizes.kv_heads = *given;
    } else {
        // Before grouped-query attention each query head had its own KV head, and no key said so.
        sizes.kv_heads = sizes.heads;
        sizes.notes.push_back("num_key_value_heads is missing; " + std::to_string(sizes.heads) +
                              " (num_attention_heads) is used");
    }
    if (sizes.kv_heads == 0 || sizes.heads % sizes.kv_heads != 0) {
        fail(config.where(), ": num_key_value_heads is ", sizes.kv_heads,
             ", which does not divide num_attention_heads ", sizes.heads,
             "; each KV head must serve the same number of query heads");
    }
    // hidden / heads is only the default: newer models choose head_dim freely.
    if (const auto given = config.optional_integer("head_dim", 1, largest_size)) {
        sizes.head_dim = *given;
        return sizes;
    }
    const std::int64_t hidden = config.integer("hidden_size", 1, largest_size);
    if (hidden % sizes.heads != 0) {
        fail(config.where(), ": head_dim is missing, and hidden_size ", hidden,
             " is not a multiple of num_attention_heads ", sizes.heads);
    }
    sizes.head_dim = hidden / sizes.heads;
    return sizes;
}

// Latent attention keeps one compressed vector per token instead of K and V rows.
void refuse_latent_attention(const JsonFields& config) {
    if (config.has("kv_lora_rank")) {
        config.refuse("kv_lora_rank",
                      "latent attention (MLA) caches a compressed vector per token, not K and V "
                      "rows, and is not supported");
    }
}

// A window at least as long as the longest sequence cuts nothing off.
void refuse_sliding_window(const JsonFields& config, const char* remedy) {
    const auto window = config.optional_integer("sliding_window", 0, largest_size);
    const auto longest = config.optional_integer("max_position_embeddings", 1, largest_size);
    const bool used = config.optional_bool("use_sliding_window").value_or(true);
    if (window && used && !(longest && *window >= *longest)) {
        config.refuse("sliding_window", remedy);
    }
}

// `rope` is "rope_scaling" or "rope_parameters". Both spell "no scaling" as type "default".
void refuse_scaled_rope(const JsonFields& rope) {
    for (const std::string& key : rope.keys()) {
        const bool is_type = key == "rope_type" || key == "type";
        const bool harmless =
            (is_type && rope.optional_string(key) == "default") ||
            (key == "partial_rotary_factor" && rope.optional_number(key) == 1.0) ||
            key == "rope_theta";
        if (!harmless && rope.has(key)) {
            rope.refuse(key, "only RoPE of the whole head, unscaled, is supported");
        }
    }
}

constexpr bool is_rope_theta(double theta) {
    return theta >= 1 && theta <= 1e12;  // not NaN
}

// Older files have "rope_theta" and "rope_scaling"; newer ones put both into "rope_parameters".
// Either is overruled by `wanted`.
double read_rope_theta(const JsonFields& config, std::optional<double> wanted,
                       std::vector<std::string>& notes) {
    std::optional<double> theta = config.optional_number("rope_theta");
    if (const auto scaling = config.optional_object("rope_scaling")) {
        refuse_scaled_rope(*scaling);
    }
    if (const auto rope = config.optional_object("rope_parameters")) {
        refuse_scaled_rope(*rope);
        const auto newer = rope->optional_number("rope_theta");
        if (newer && theta && *newer != *theta) {
            rope->refuse("rope_theta", "rope_theta outside rope_parameters is another number");
        }
        theta = newer ? newer : theta;
    }
    if (wanted) {
        if (!is_rope_theta(*wanted)) {
            fail("rope_theta ", *wanted, " cannot be used; give a number from 1 to 1e12");
        }
        const std::string found = theta ? "is " + shown(*theta) : "is missing";
        notes.push_back("rope_theta " + found + "; " + shown(*wanted) + " is used, as asked");
        return *wanted;
    }
    if (!theta) {
        notes.push_back("rope_theta is missing; 10000 is used, the Llama default");
        return default_rope_theta;
    }
    if (!is_rope_theta(*theta)) {
        fail(config.where(), ": rope_theta is ", *theta, "; expected a number from 1 to 1e12");
    }
    return *theta;
}

// Things that change the logits and that the decoder does not compute.
void refuse_other_architectures(const JsonFields& config) {
    if (config.string("model_type") != "llama") {
        config.refuse("model_type", "only 'llama' is supported");
    }
    refuse_latent_attention(config);
    refuse_if_true(config, "attention_bias", "biases are not supported");
    refuse_if_true(config, "mlp_bias", "biases are not supported");
    if (config.optional_string("hidden_act").value_or("silu") != "silu") {
        config.refuse("hidden_act", "only 'silu' is supported");
    }
    refuse_sliding_window(config, "attention over a window is not supported");
    if (config.has("quantization_config")) {
        config.refuse("quantization_config", "quantized weights are not supported");
    }
    if (config.optional_integer("pretraining_tp", 0, largest_size).value_or(1) > 1) {
        config.refuse("pretraining_tp", "only 1 is supported");
    }
    if (config.optional_number("partial_rotary_factor").value_or(1) != 1) {
        config.refuse("partial_rotary_factor", "RoPE must turn the whole head (1.0)");
    }
}

// One id, or a list of them.
std::vector<std::int32_t> read_eos(const JsonFields& config, std::int64_t vocab) {
    const json* value = config.get("eos_token_id");
    if (!value) {
        return {};
    }
    if (!value->is_array()) {
        return {static_cast<std::int32_t>(config.integer("eos_token_id", 0, vocab - 1))};
    }
    std::vector<std::int32_t> ids;
    for (const json& element : *value) {
        const json one = {{"eos_token_id", element}};
        ids.push_back(static_cast<std::int32_t>(
            JsonFields(one, config.where()).integer("eos_token_id", 0, vocab - 1)));
    }
    return ids;
}

float read_rms_norm_eps(const JsonFields& config) {
    if (!config.has("rms_norm_eps")) {
        config.missing("rms_norm_eps");
    }
    const double eps = *config.optional_number("rms_norm_eps");
    // 1e-60 is above 0, but not any more as a float.
    if (!(eps > 0 && eps <= 1 && static_cast<float>(eps) > 0)) {
        config.refuse("rms_norm_eps", "expected a number above 0 (as float32) and at most 1");
    }
    return static_cast<float>(eps);
}

}  // namespace

ModelConfig parse_config(std::string_view json_text, const std::string& where,
                         std::optional<double> rope_theta) {
    const json parsed = parse_json_object(json_text, where);
    const JsonFields config(parsed, where);
    refuse_other_architectures(config);

    ModelConfig result;
    ModelShape& shape = result.shape;
    const KvFootprintInput sizes = read_kv_sizes(config);
    shape.layers = sizes.layers;
    shape.heads = sizes.heads;
    shape.kv_heads = sizes.kv_heads;
    shape.head_dim = sizes.head_dim;
    result.notes = sizes.notes;
    shape.hidden = config.integer("hidden_size", 1, largest_size);
    shape.ffn = config.integer("intermediate_size", 1, largest_size);
    shape.vocab = config.integer("vocab_size", 1, largest_size);
    try {
        validate(shape);
    } catch (const Error& error) {
        fail(where, ": ", error.what());
    }

    result.max_model_len = config.integer("max_position_embeddings", 1, largest_size);
    if (result.max_model_len > most_rope_positions) {
        config.refuse("max_position_embeddings",
                      "RoPE is computed for at most " + std::to_string(most_rope_positions) +
                          " positions; lower it to that, the weights do not depend on it");
    }
    result.rms_norm_eps = read_rms_norm_eps(config);
    result.rope_theta = read_rope_theta(config, rope_theta, result.notes);
    if (const auto tied = config.optional_bool("tie_word_embeddings")) {
        result.tie_word_embeddings = *tied;
    } else {
        result.notes.push_back("tie_word_embeddings is missing; false is used, the Llama default");
    }
    result.eos_token_ids = read_eos(config, shape.vocab);
    result.bos_token_id = static_cast<std::int32_t>(
        config.optional_integer("bos_token_id", 0, shape.vocab - 1).value_or(-1));
    return result;
}

ModelConfig load_config(const std::string& path, std::optional<double> rope_theta) {
    return parse_config(read_text_file(path, largest_file_bytes), path, rope_theta);
}

KvFootprintInput parse_footprint_config(std::string_view json_text, const std::string& where) {
    const json parsed = parse_json_object(json_text, where);
    const JsonFields config(parsed, where);
    refuse_latent_attention(config);
    refuse_sliding_window(config, "a window of positions is cached, not all of them");
    for (const std::string& key : config.keys()) {
        const json* value = config.get(key);
        if (may_change_the_cache(key) && value && *value != false && *value != 0) {
            config.refuse(key,
                          "such a cache is not 2 * L * G * D numbers per token, or its KV heads "
                          "are counted under another name; give the sizes by hand");
        }
    }
    if (config.has("layer_types")) {
        for (const json& type : config.array("layer_types")) {
            if (type != "full_attention") {
                fail(where, ": layer_types holds ", shown(type),
                     "; only layers of 'full_attention' keep a K and a V row per token");
            }
        }
    }

    KvFootprintInput result = read_kv_sizes(config);
    const auto value_dim = config.optional_integer("v_head_dim", 1, largest_size);
    if (value_dim && *value_dim != result.head_dim) {
        config.refuse("v_head_dim", "K rows have " + std::to_string(result.head_dim) +
                                        " numbers (head_dim), V rows others; the formula is for "
                                        "rows of one size");
    }
    result.model_type = config.optional_string("model_type").value_or("");
    return result;
}

KvFootprintInput load_footprint_config(const std::string& path) {
    return parse_footprint_config(read_text_file(path, largest_file_bytes), path);
}

}  // namespace kvtape
