// config.json: both spellings are read, and what the decoder does not compute is refused by name.
#include "reference_cpu/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "core/rope.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

json llama() {
    return json::parse(R"({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1000,
        "hidden_size": 96, "intermediate_size": 200, "num_hidden_layers": 3,
        "num_attention_heads": 6, "num_key_value_heads": 2, "head_dim": 20,
        "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 500000.0,
        "rope_scaling": null, "hidden_act": "silu", "attention_bias": false, "mlp_bias": false,
        "pretraining_tp": 1, "tie_word_embeddings": true, "bos_token_id": 1,
        "eos_token_id": [2, 7], "torch_dtype": "bfloat16", "use_cache": true})");
}

ModelConfig parse(const json& config) {
    return parse_config(config.dump(), "config.json");
}

json with(const std::string& key, const json& value) {
    json config = llama();
    config[key] = value;
    return config;
}

json without(const std::string& key) {
    json config = llama();
    config.erase(key);
    return config;
}

std::string refusal(const json& config) {
    return error_text([&] { parse(config); });
}

TEST(Config, ReadsTheOlderSpelling) {
    const ModelConfig config = parse(llama());
    EXPECT_EQ(config.shape, (ModelShape{3, 96, 6, 2, 20, 200, 1000}));
    EXPECT_EQ(config.max_model_len, 512);
    EXPECT_EQ(config.rms_norm_eps, 1e-5f);
    EXPECT_EQ(config.rope_theta, 500000);
    EXPECT_TRUE(config.tie_word_embeddings);
    EXPECT_EQ(config.bos_token_id, 1);
    EXPECT_THAT(config.eos_token_ids, ElementsAre(2, 7));
    EXPECT_THAT(config.notes, IsEmpty());
}

TEST(Config, ReadsTheCurrentSpelling) {
    json config = without("rope_theta");
    config.erase("rope_scaling");
    config.erase("torch_dtype");
    config["dtype"] = "float16";
    config["rope_parameters"] = {{"rope_theta", 1e6}, {"rope_type", "default"}};
    EXPECT_EQ(parse(config).rope_theta, 1e6);
    EXPECT_THAT(parse(config).notes, IsEmpty());
    config["rope_theta"] = 1e6;  // both, if they agree
    EXPECT_EQ(parse(config).rope_theta, 1e6);
    config["rope_theta"] = 1e4;
    EXPECT_THAT(refusal(config), HasSubstr("rope_parameters.rope_theta"));
}

TEST(Config, LoadsTheShippedModel) {
    const ModelConfig config =
        load_config(std::string(KVTAPE_SOURCE_DIR) + "/models/storyteller/config.json");
    EXPECT_GE(config.max_model_len, 1024);
    EXPECT_GE(config.shape.group_size(), 2);
}

TEST(Config, AMissingRopeBaseIs10000WithANote) {  // PC-LD-19
    EXPECT_EQ(parse(with("rope_theta", 5e5)).rope_theta, 5e5);
    for (const json& config : {without("rope_theta"), with("rope_theta", nullptr)}) {
        const ModelConfig parsed = parse(config);
        EXPECT_EQ(parsed.rope_theta, 10000);
        EXPECT_THAT(parsed.notes, ElementsAre(AllOf(HasSubstr("rope_theta"), HasSubstr("10000"))));
    }
}

TEST(Config, ARopeBaseThatIsAskedForWinsWithANote) {  // PC-LD-19
    const auto asked = [](const json& config, double theta) {
        return parse_config(config.dump(), "config.json", theta);
    };
    const ModelConfig replaced = asked(with("rope_theta", 1e6), 1e4);
    EXPECT_EQ(replaced.rope_theta, 1e4);
    EXPECT_THAT(replaced.notes, ElementsAre(AllOf(HasSubstr("1000000"), HasSubstr("10000.0 is"))));
    const ModelConfig added = asked(without("rope_theta"), 5e5);
    EXPECT_EQ(added.rope_theta, 5e5);
    EXPECT_THAT(added.notes, ElementsAre(AllOf(HasSubstr("missing"), HasSubstr("500000"))));
    for (const double impossible : {0.0, 0.99, 1e13, -1e4, std::nan("")}) {
        EXPECT_THROW(asked(with("rope_theta", 1e6), impossible), Error) << impossible;
    }
}

TEST(Config, DefaultsOfLlama) {
    EXPECT_EQ(parse(without("num_key_value_heads")).shape.kv_heads, 6);
    json narrow = without("head_dim");
    EXPECT_EQ(parse(narrow).shape.head_dim, 16);
    narrow["hidden_size"] = 100;
    EXPECT_THAT(refusal(narrow), AllOf(HasSubstr("100"), HasSubstr("6")));

    const ModelConfig untied = parse(without("tie_word_embeddings"));
    EXPECT_FALSE(untied.tie_word_embeddings);
    EXPECT_THAT(untied.notes, ElementsAre(HasSubstr("tie_word_embeddings")));

    EXPECT_EQ(parse(without("bos_token_id")).bos_token_id, -1);
    EXPECT_THAT(parse(without("eos_token_id")).eos_token_ids, IsEmpty());
    EXPECT_THAT(parse(with("eos_token_id", 999)).eos_token_ids, ElementsAre(999));
}

TEST(Config, RefusesByNameWhatTheDecoderDoesNotCompute) {
    const std::pair<const char*, json> unsupported[] = {
        {"attention_bias", true},
        {"mlp_bias", true},
        {"hidden_act", "gelu"},
        {"model_type", "mistral"},
        {"sliding_window", 128},
        {"kv_lora_rank", 512},
        {"quantization_config", {{"bits", 4}}},
        {"pretraining_tp", 2},
        {"partial_rotary_factor", 0.5},
        {"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}},
        {"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}},
        {"rope_scaling", {{"factor", 2.0}}},
        {"rope_parameters", {{"rope_theta", 5e5}, {"rope_type", "yarn"}}},
        {"rope_parameters", {{"full_attention", {{"rope_theta", 5e5}}}}},
        {"rope_parameters", {{"rope_theta", 5e5}, {"partial_rotary_factor", 0.25}}},
    };
    for (const auto& [key, value] : unsupported) {
        EXPECT_THAT(refusal(with(key, value)), AllOf(HasSubstr("config.json: "), HasSubstr(key)));
    }
}

TEST(Config, AcceptsTheSameKeysWhenTheyChangeNothing) {
    const std::pair<const char*, json> harmless[] = {
        {"attention_bias", nullptr},
        {"sliding_window", nullptr},
        {"sliding_window", 512},  // as long as the longest sequence
        {"pretraining_tp", 1},
        {"partial_rotary_factor", 1.0},
        {"rope_scaling", {{"rope_type", "default"}}},
        {"rope_scaling", {{"type", "default"}}},
        {"some_future_key", {1, 2, 3}},
    };
    for (const auto& [key, value] : harmless) {
        EXPECT_EQ(parse(with(key, value)).shape, parse(llama()).shape) << key;
    }
    json unused = with("sliding_window", 128);
    unused["use_sliding_window"] = false;
    EXPECT_EQ(parse(unused).shape, parse(llama()).shape);
}

TEST(Config, SizesAreIntegersInRange) {
    for (const char* key :
         {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
          "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings"}) {
        for (const json& value :
             {json(-1), json(0), json(1.5), json(96.0), json("96"), json(true), json::array({96}),
              json::object(), json(std::int64_t{1} << 40), json(~std::uint64_t{0}), json(1e300)}) {
            EXPECT_THAT(refusal(with(key, value)), HasSubstr(key)) << value;
        }
    }
    for (const char* key :
         {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
          "num_attention_heads", "max_position_embeddings", "rms_norm_eps", "model_type"}) {
        EXPECT_THAT(refusal(without(key)), HasSubstr(std::string(key) + " is missing"));
    }
}

// As many positions as RoPE is computed for are read, and no more: with both numbers, not as a
// broken contract once the weights are there.
TEST(Config, TheLongestSequenceIsAtMostThatOfRope) {
    EXPECT_EQ(parse(with("max_position_embeddings", 1 << 20)).max_model_len, 1 << 20);
    EXPECT_NO_THROW(make_rope_table(2, 1 << 20, 1e4));
    for (const int positions : {(1 << 20) + 1, 10'485'760, 1 << 24}) {
        EXPECT_THAT(
            refusal(with("max_position_embeddings", positions)),
            AllOf(HasSubstr("config.json: max_position_embeddings is " + std::to_string(positions)),
                  HasSubstr("at most 1048576 positions")));
    }
}

TEST(Config, NumbersAreFiniteAndInRange) {
    for (const json& value :
         {json(0.0), json(-1e-5), json(2), json(1e-60), json("1e-5"), json(false), json::array()}) {
        EXPECT_THAT(refusal(with("rms_norm_eps", value)), HasSubstr("rms_norm_eps")) << value;
    }
    for (const json& value : {json(0), json(-1e4), json(1e300), json("1e4"), json::object()}) {
        EXPECT_THAT(refusal(with("rope_theta", value)), HasSubstr("rope_theta")) << value;
    }
    for (const char* number : {"1e999", "-1e999", "NaN", "Infinity", "1e", "01"}) {
        const std::string text = R"({"rms_norm_eps":)" + std::string(number) + "}";
        EXPECT_THAT(error_text([&] { parse_config(text, "config.json"); }),
                    HasSubstr("config.json: "));
    }
}

TEST(Config, TokenIdsLieInTheVocabulary) {
    for (const char* key : {"bos_token_id", "eos_token_id"}) {
        for (const json& value : {json(-1), json(1000), json("2"), json(1.0)}) {
            EXPECT_THAT(refusal(with(key, value)), HasSubstr(key)) << value;
        }
    }
    EXPECT_THAT(refusal(with("eos_token_id", {2, 1000})), HasSubstr("eos_token_id is 1000"));
    EXPECT_THAT(refusal(with("eos_token_id", {2, nullptr})), HasSubstr("eos_token_id"));
}

TEST(Config, HeadsMustShareEvenly) {  // PC-MM-08
    const auto heads = [](int query, int kv) {
        json config = with("num_attention_heads", query);
        config["num_key_value_heads"] = kv;
        return config;
    };
    EXPECT_EQ(parse(heads(32, 8)).shape.kv_heads, 8);
    EXPECT_EQ(parse(heads(32, 8)).shape.group_size(), 4);
    EXPECT_THAT(refusal(heads(7, 2)), AllOf(HasSubstr("7"), HasSubstr("2")));
    EXPECT_THAT(refusal(heads(3, 2)), AllOf(HasSubstr("3"), HasSubstr("2")));
    EXPECT_THAT(refusal(heads(4, 0)), AllOf(HasSubstr("4"), HasSubstr("0")));
    EXPECT_THAT(refusal(heads(2, 4)), AllOf(HasSubstr("2"), HasSubstr("4")));
    EXPECT_THAT(refusal(with("head_dim", 15)), AllOf(HasSubstr("head_dim"), HasSubstr("15")));
}

TEST(Config, TheTextMustBeOneStrictJsonObject) {
    const auto refusal_of_text = [](const std::string& text) {
        return error_text([&] { parse_config(text, "config.json"); });
    };
    EXPECT_THAT(refusal_of_text(""), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal_of_text("[]"), HasSubstr("must be an object"));
    EXPECT_THAT(refusal_of_text("{\"a\":1,}"), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal_of_text("{\"a\":\"\xC3\x28\"}"), HasSubstr("UTF-8"));
    EXPECT_THAT(refusal_of_text(R"({"vocab_size":1,"vocab_size":2})"),
                HasSubstr("'vocab_size' appears twice"));
    EXPECT_THAT(refusal_of_text(R"({"x":{"k":1,"k":2}})"), HasSubstr("'k' appears twice"));
    EXPECT_THAT(refusal_of_text(R"({"a\n":1,"a\n":2})"), HasSubstr("'a\\x0a' appears twice"));
    const std::string whole = llama().dump();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        refusal_of_text(whole.substr(0, length));
    }
}

TEST(Config, LoadSaysWhichFile) {
    const std::string path = testing::TempDir() + "no_such_config.json";
    EXPECT_THAT(error_text([&] { load_config(path); }), HasSubstr(path));
    const std::string big = testing::TempDir() + "big_config.json";
    std::ofstream(big) << std::string((1 << 20) + 1, ' ');
    EXPECT_THAT(error_text([&] { load_config(big); }), AllOf(HasSubstr(big), HasSubstr("1048577")));
}

}  // namespace
}  // namespace kvtape
