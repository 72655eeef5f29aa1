// config.json of a Hugging Face checkpoint: the shape of the model and the few numbers beside it.
//
// Two readers of the same file, because they promise different things:
//
//   parse_config            for the decoder: accepts the Llama family and refuses, by name, what
//                           it does not compute, since ignoring that would give wrong logits.
//   parse_footprint_config  for memory arithmetic only: accepts any model whose cache is K and V
//                           rows of `head_dim` numbers, and refuses other caches.
//
// Every problem is an Error of one line with the file and the key. A key that is `null` counts as
// absent, as it does for Hugging Face. Keys that do not change what the decoder computes are
// ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace kvtape {

struct ModelConfig {
    ModelShape shape;
    std::int64_t max_model_len = 0;  // longest sequence in tokens: max_position_embeddings
    float rms_norm_eps = 0;
    double rope_theta = 0;                    // base of the RoPE angles
    bool tie_word_embeddings = false;         // absent = false, the Llama default
    std::vector<std::int32_t> eos_token_ids;  // any of them ends a text; may be empty
    std::int32_t bos_token_id = -1;           // -1 if the file names none
    std::vector<std::string> notes;           // defaults taken, one line each, for the user to see
};

// `where` names the text in errors, usually its path. `rope_theta`, if given, is used in place of
// the file's own, and a note says so.
ModelConfig parse_config(std::string_view json_text, const std::string& where,
                         std::optional<double> rope_theta = std::nullopt);
ModelConfig load_config(const std::string& path, std::optional<double> rope_theta = std::nullopt);

// What 2 * L * G * D * bytes needs.
struct KvFootprintInput {
    std::string model_type;
    std::int64_t layers = 0;    // L
    std::int64_t heads = 0;     // H
    std::int64_t kv_heads = 0;  // G
    std::int64_t head_dim = 0;  // D
    std::vector<std::string> notes;

    std::int64_t group_size() const { return heads / kv_heads; }
};

// Refuses latent attention (kv_lora_rank), layers that keep only a window, no K and V rows at all
// or those of another layer, and rows of two sizes: their cache is not what the formula says. A key
// that is not known but speaks of K and V by its name is refused as well.
KvFootprintInput parse_footprint_config(std::string_view json_text, const std::string& where);
KvFootprintInput load_footprint_config(const std::string& path);

}  // namespace kvtape
