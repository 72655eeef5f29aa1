// What a config says about the size of the cache, for models of any family that keeps K and V rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reference_cpu/config.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

KvFootprintInput parse(const json& config) {
    return parse_footprint_config(config.dump(), "config.json");
}

std::string refusal(const json& config) {
    return error_text([&] { parse(config); });
}

std::int64_t bytes_per_token(const KvFootprintInput& input, std::int64_t bytes_per_element) {
    return 2 * input.layers * input.kv_heads * input.head_dim * bytes_per_element;
}

json qwen3() {
    return {{"model_type", "qwen3"},     {"num_hidden_layers", 36},    {"hidden_size", 2560},
            {"num_attention_heads", 32}, {"num_key_value_heads", 8},   {"head_dim", 128},
            {"sliding_window", nullptr}, {"use_sliding_window", false}};
}

TEST(FootprintConfig, HeadDimComesFromTheConfigWhenItIsThere) {  // PC-MM-02
    EXPECT_EQ(bytes_per_token(parse(qwen3()), 2), 147'456);
    json larger = qwen3();
    larger["num_hidden_layers"] = 64;
    larger["hidden_size"] = 5120;
    larger["num_attention_heads"] = 64;
    EXPECT_EQ(bytes_per_token(parse(larger), 2), 262'144);

    json narrow = qwen3();
    narrow.erase("head_dim");
    EXPECT_EQ(parse(narrow).head_dim, 80);
    EXPECT_EQ(parse(qwen3()).model_type, "qwen3");
}

TEST(FootprintConfig, HiddenSizeIsNeededOnlyWithoutHeadDim) {
    json config = qwen3();
    config.erase("hidden_size");
    EXPECT_EQ(parse(config).head_dim, 128);
    config.erase("head_dim");
    EXPECT_THAT(refusal(config), HasSubstr("hidden_size is missing"));
}

TEST(FootprintConfig, LatentAttentionIsRefused) {  // PC-MM-07
    const json deepseek = {{"model_type", "deepseek_v3"}, {"num_hidden_layers", 61},
                           {"hidden_size", 7168},         {"num_attention_heads", 128},
                           {"num_key_value_heads", 128},  {"kv_lora_rank", 512},
                           {"qk_rope_head_dim", 64}};
    EXPECT_THAT(refusal(deepseek), AllOf(HasSubstr("kv_lora_rank"), HasSubstr("512")));
}

TEST(FootprintConfig, HeadsMustShareEvenly) {  // PC-MM-08
    const auto heads = [](int query, int kv) {
        json config = qwen3();
        config["num_attention_heads"] = query;
        config["num_key_value_heads"] = kv;
        return config;
    };
    EXPECT_EQ(parse(heads(32, 8)).kv_heads, 8);
    EXPECT_EQ(parse(heads(32, 8)).group_size(), 4);
    for (const auto& [query, kv] : {std::pair{7, 2}, {3, 2}, {4, 0}, {2, 4}}) {
        EXPECT_THAT(refusal(heads(query, kv)),
                    AllOf(HasSubstr(std::to_string(query)), HasSubstr(std::to_string(kv))));
    }
}

TEST(FootprintConfig, LayersWithoutAFullCacheAreRefused) {
    const std::pair<const char*, json> others[] = {
        {"layer_types", {"full_attention", "sliding_attention"}},
        {"layer_types", {"linear_attention", "full_attention"}},
        {"layers_block_type", {"mamba", "attention"}},
        {"attn_layer_period", 8},
        {"num_kv_shared_layers", 10},
        {"use_cla", true},
        {"attn_type_list", {0, 0, 1}},
        {"mamba_d_state", 16},
        {"_sliding_window_pattern", 6},
        {"n_head_kv", 8},
        {"num_kv_heads", 8},
        {"kv_of_the_next_family", "shared"},
        {"attention_chunk_size", 8192},
        {"multi_query", true},
        {"is_encoder_decoder", true},
    };
    for (const auto& [key, value] : others) {
        json config = qwen3();
        config[key] = value;
        EXPECT_THAT(refusal(config), HasSubstr(key));
    }
    json window = qwen3();
    window["sliding_window"] = 4096;
    EXPECT_EQ(parse(window).layers, 36);  // use_sliding_window is false
    window["use_sliding_window"] = true;
    EXPECT_THAT(refusal(window), HasSubstr("sliding_window"));
    window["max_position_embeddings"] = 4096;
    EXPECT_EQ(parse(window).layers, 36);  // a window that cuts nothing off
}

// The decoder computes RoPE for a million positions; arithmetic needs no table.
TEST(FootprintConfig, RowsOfTwoSizesAreRefused) {
    json config = qwen3();
    config["v_head_dim"] = 64;
    EXPECT_THAT(refusal(config), AllOf(HasSubstr("v_head_dim is 64"), HasSubstr("128")));
}

TEST(FootprintConfig, AMissingNumberOfKvHeadsIsThatOfQueryHeadsWithANote) {
    EXPECT_TRUE(parse(qwen3()).notes.empty());
    json config = qwen3();
    config.erase("num_key_value_heads");
    EXPECT_EQ(parse(config).kv_heads, 32);
    EXPECT_THAT(
        parse(config).notes,
        testing::ElementsAre("num_key_value_heads is missing; 32 (num_attention_heads) is used"));
}

TEST(FootprintConfig, TextsMayBeOfAnyLength) {
    json config = qwen3();
    config["max_position_embeddings"] = 10'485'760;
    EXPECT_EQ(parse(config).layers, 36);
}

TEST(FootprintConfig, HarmlessValuesOfTheSameKeysAreAccepted) {
    json config = qwen3();
    config["layer_types"] = {"full_attention", "full_attention"};
    config["multi_query"] = false;
    config["num_kv_shared_layers"] = 0;
    config["use_cla"] = false;
    config["cla_share_factor"] = 2;  // unused without use_cla
    config["qkv_bias"] = true;
    config["v_head_dim"] = 128;  // as head_dim
    config["attention_chunk_size"] = nullptr;
    EXPECT_EQ(parse(config).layers, 36);
}

TEST(FootprintConfig, ModelsWithOtherKeysAreRefused) {
    EXPECT_THAT(refusal({{"model_type", "gpt2"}, {"n_layer", 12}, {"n_head", 12}}),
                HasSubstr("num_hidden_layers is missing"));
    // A model of images and text keeps the decoder's sizes one level down.
    EXPECT_THAT(refusal({{"model_type", "llava"}, {"text_config", qwen3()}}),
                HasSubstr("num_hidden_layers is missing"));
}

}  // namespace
}  // namespace kvtape
