// A folder with a tiny model, as the program wants it: config.json, model.safetensors and, if asked
// for, a tokenizer.json in which each byte is one token.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "reference_cpu/safetensors_write.h"
#include "support/program.h"
#include "support/tiny_models.h"

namespace kvtape {

// The name that byte-level tokenizers give to a byte: itself if it can be printed, else a letter
// from U+0100 on, counted over the bytes that cannot.
inline std::string name_of_byte(int byte) {
    const auto printable = [](int b) {
        return (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || (b >= 174 && b <= 255);
    };
    int code = byte;
    if (!printable(byte)) {
        code = 256;
        for (int b = 0; b < byte; ++b) code += printable(b) ? 0 : 1;
    }
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    return {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
}

// Ids 0 .. 255 are the bytes, 256 is <|end|>.
inline constexpr std::int64_t byte_vocab = 257;

inline std::string byte_tokenizer_json() {
    nlohmann::json vocab;
    for (int byte = 0; byte < 256; ++byte) vocab[name_of_byte(byte)] = byte;
    vocab["<|end|>"] = 256;
    const nlohmann::json byte_level = {{"type", "ByteLevel"},
                                       {"add_prefix_space", false},
                                       {"trim_offsets", true},
                                       {"use_regex", false}};
    return nlohmann::json{{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens",
                           {{{"id", 256},
                             {"content", "<|end|>"},
                             {"single_word", false},
                             {"lstrip", false},
                             {"rstrip", false},
                             {"normalized", false},
                             {"special", true}}}},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", byte_level},
                          {"post_processor", nullptr},
                          {"decoder", byte_level},
                          {"model",
                           {{"type", "BPE"},
                            {"dropout", nullptr},
                            {"unk_token", nullptr},
                            {"continuing_subword_prefix", nullptr},
                            {"end_of_word_suffix", nullptr},
                            {"fuse_unk", false},
                            {"byte_fallback", false},
                            {"vocab", vocab},
                            {"merges", nlohmann::json::array()}}}}
        .dump();
}

inline std::vector<NamedTensor> tensors_of(const ModelShape& s, const ModelWeights& weights) {
    const std::int64_t q = s.heads * s.head_dim;
    const std::int64_t kv = s.kv_heads * s.head_dim;
    std::vector<NamedTensor> tensors = {
        {"model.embed_tokens.weight", {s.vocab, s.hidden}, weights.embedding},
        {"model.norm.weight", {s.hidden}, weights.final_norm}};
    for (std::size_t i = 0; i < weights.layers.size(); ++i) {
        const LayerWeights& w = weights.layers[i];
        const std::string layer = "model.layers." + std::to_string(i) + ".";
        tensors.push_back({layer + "input_layernorm.weight", {s.hidden}, w.attention_norm});
        tensors.push_back({layer + "self_attn.q_proj.weight", {q, s.hidden}, w.q});
        tensors.push_back({layer + "self_attn.k_proj.weight", {kv, s.hidden}, w.k});
        tensors.push_back({layer + "self_attn.v_proj.weight", {kv, s.hidden}, w.v});
        tensors.push_back({layer + "self_attn.o_proj.weight", {s.hidden, q}, w.o});
        tensors.push_back({layer + "post_attention_layernorm.weight", {s.hidden}, w.mlp_norm});
        tensors.push_back({layer + "mlp.gate_proj.weight", {s.ffn, s.hidden}, w.gate});
        tensors.push_back({layer + "mlp.up_proj.weight", {s.ffn, s.hidden}, w.up});
        tensors.push_back({layer + "mlp.down_proj.weight", {s.hidden, s.ffn}, w.down});
    }
    if (!weights.head.empty()) {
        tensors.push_back({"lm_head.weight", {s.vocab, s.hidden}, weights.head});
    }
    return tensors;
}

struct TinyModelFiles {
    ModelShape shape = tiny_llama;
    std::int64_t max_model_len = 64;
    bool tokenizer = false;  // then the vocabulary must be byte_vocab
    std::function<void(ModelWeights&)> change = [](ModelWeights&) {};
    nlohmann::json eos = nullptr;
};

inline void write_model(const std::filesystem::path& folder, const TinyModelFiles& files = {}) {
    std::filesystem::create_directories(folder);
    const ModelShape& s = files.shape;
    const nlohmann::json config = {{"model_type", "llama"},
                                   {"hidden_size", s.hidden},
                                   {"intermediate_size", s.ffn},
                                   {"num_hidden_layers", s.layers},
                                   {"num_attention_heads", s.heads},
                                   {"num_key_value_heads", s.kv_heads},
                                   {"head_dim", s.head_dim},
                                   {"vocab_size", s.vocab},
                                   {"max_position_embeddings", files.max_model_len},
                                   {"rms_norm_eps", 1e-5},
                                   {"rope_theta", 10000.0},
                                   {"tie_word_embeddings", false},
                                   {"eos_token_id", files.eos}};
    write_file(folder / "config.json", config.dump(2));
    ModelWeights weights = tiny_weights(s);
    files.change(weights);
    write_safetensors((folder / "model.safetensors").string(), tensors_of(s, weights));
    if (files.tokenizer) write_file(folder / "tokenizer.json", byte_tokenizer_json());
}

// A model with text: one token per byte.
inline TinyModelFiles with_text() {
    TinyModelFiles files;
    files.shape.vocab = byte_vocab;
    files.tokenizer = true;
    return files;
}

}  // namespace kvtape
