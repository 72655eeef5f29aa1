// Checkpoints whose output head is absent, present, redundant or contradicts the config, and
// tensors that do not belong. Files are made here, a few kilobytes each.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/check.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/safetensors_write.h"
#include "support/tiny_models.h"
#include "support/transcript.h"

namespace kvtape {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// The tensors of the tiny Llama under the names of a Hugging Face checkpoint; without
// lm_head.weight.
std::vector<NamedTensor> tensors_of(const ModelWeights& w, const ModelShape& s = tiny_llama) {
    const std::int64_t q_width = s.heads * s.head_dim, kv_width = s.kv_heads * s.head_dim;
    std::vector<NamedTensor> tensors = {
        {"model.embed_tokens.weight", {s.vocab, s.hidden}, w.embedding}};
    for (std::size_t i = 0; i < w.layers.size(); ++i) {
        const LayerWeights& layer = w.layers[i];
        const std::string prefix = "model.layers." + std::to_string(i) + ".";
        const auto add = [&](const std::string& name, std::vector<std::int64_t> shape,
                             const std::vector<float>& values) {
            tensors.push_back({prefix + name + ".weight", std::move(shape), values});
        };
        add("input_layernorm", {s.hidden}, layer.attention_norm);
        add("self_attn.q_proj", {q_width, s.hidden}, layer.q);
        add("self_attn.k_proj", {kv_width, s.hidden}, layer.k);
        add("self_attn.v_proj", {kv_width, s.hidden}, layer.v);
        add("self_attn.o_proj", {s.hidden, q_width}, layer.o);
        add("post_attention_layernorm", {s.hidden}, layer.mlp_norm);
        add("mlp.gate_proj", {s.ffn, s.hidden}, layer.gate);
        add("mlp.up_proj", {s.ffn, s.hidden}, layer.up);
        add("mlp.down_proj", {s.hidden, s.ffn}, layer.down);
    }
    tensors.push_back({"model.norm.weight", {s.hidden}, w.final_norm});
    return tensors;
}

NamedTensor head(std::vector<float> values) {
    return {"lm_head.weight", {tiny_llama.vocab, tiny_llama.hidden}, std::move(values)};
}

ModelWeights load(const std::vector<NamedTensor>& tensors, bool tied) {
    const std::string bytes = safetensors_bytes(tensors);
    return load_weights(SafetensorsFile::parse(std::as_bytes(std::span(bytes)), "test"),
                        config_of(tiny_llama, 64, tied));
}

std::string refusal(const std::vector<NamedTensor>& tensors, bool tied) {
    try {
        load(tensors, tied);
    } catch (const Error& error) {
        return error.what();
    }
    return "loaded";
}

std::vector<float> logits(const ModelWeights& weights, bool tied) {
    const Model<float> model(config_of(tiny_llama, 64, tied), weights);
    NoCache cache(tiny_llama, KvDtype::f32, 8);
    Team team(1);
    return feed_one(model, cache, team, random_tokens(8, tiny_llama.vocab, 1), {8}).logits;
}

class OutputHead : public testing::Test {
  protected:
    ModelWeights untied_ = tiny_weights(tiny_llama, false);
    ModelWeights tied_ = tiny_weights(tiny_llama, true);
};

// Every tensor arrives at its place: the model from the file is the model that was written.
TEST_F(OutputHead, UntiedIsReadFromTheFile) {
    auto tensors = tensors_of(untied_);
    tensors.push_back(head(untied_.head));
    EXPECT_EQ(logits(load(tensors, false), false), logits(untied_, false));
}

// PC-LD-10: (a) tied without a head in the file, (b) tied with a head that is the embedding.
TEST_F(OutputHead, TiedIsTheEmbeddingWithOrWithoutACopyInTheFile) {
    const auto absent = load(tensors_of(tied_), true);
    auto tensors = tensors_of(tied_);
    tensors.push_back(head(tied_.embedding));
    const auto present = load(tensors, true);
    EXPECT_TRUE(absent.head.empty());
    EXPECT_TRUE(present.head.empty());
    EXPECT_EQ(logits(absent, true), logits(tied_, true));
    EXPECT_EQ(logits(present, true), logits(absent, true));

    // It is counted once, and it is x E^T: an untied model with a copy as its head computes the
    // same.
    const Model<float> tied(config_of(tiny_llama, 64, true), absent);
    ModelWeights copied = tied_;
    copied.head = copied.embedding;
    const Model<float> untied(config_of(tiny_llama, 64, false), copied);
    EXPECT_EQ(logits(copied, false), logits(absent, true));
    EXPECT_EQ(untied.parameters() - tied.parameters(), 32 * 16);
}

// PC-LD-11: (c) tied, but the file has another head.
TEST_F(OutputHead, TiedWithAnotherHeadIsRefused) {
    std::vector<float> other = tied_.embedding;
    for (float& value : other) value += 1;
    auto tensors = tensors_of(tied_);
    tensors.push_back(head(other));
    EXPECT_THAT(refusal(tensors, true), AllOf(HasSubstr("lm_head.weight"), HasSubstr("tie")));
    // One bit is a difference.
    other = tied_.embedding;
    other.back() = std::nextafter(other.back(), 9.0f);
    tensors.back() = head(other);
    EXPECT_THAT(refusal(tensors, true), HasSubstr("differs"));
}

// PC-LD-11: (d) untied, and the file has no head. (e), the flag absent, means untied:
// config_test.cpp.
TEST_F(OutputHead, UntiedWithoutAHeadIsRefused) {
    EXPECT_THAT(refusal(tensors_of(untied_), false),
                AllOf(HasSubstr("lm_head.weight"), HasSubstr("tie")));
}

TEST_F(OutputHead, MissingTensorsAreNamed) {
    const auto complete = tensors_of(tied_);
    for (std::size_t i = 0; i < complete.size(); ++i) {
        auto tensors = complete;
        tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(i));
        EXPECT_THAT(refusal(tensors, true), HasSubstr(complete[i].name));
    }
}

TEST_F(OutputHead, TensorsThatWouldBeIgnoredAreRefused) {
    auto tensors = tensors_of(tied_);
    tensors.push_back({"model.layers.0.self_attn.q_proj.bias", {16}, std::vector<float>(16, 1.0f)});
    EXPECT_THAT(refusal(tensors, true), HasSubstr("q_proj.bias"));
    tensors.back().name = "model.layers.2.mlp.up_proj.weight";  // a third layer
    EXPECT_THAT(refusal(tensors, true), HasSubstr("model.layers.2"));
    tensors.back().name = "model.layers.0.self_attn.rotary_emb.inv_freq";
    EXPECT_EQ(refusal(tensors, true), "loaded");
}

TEST_F(OutputHead, TransposedTensorsAreRefused) {
    auto tensors = tensors_of(tied_);
    for (NamedTensor& tensor : tensors) {
        if (tensor.shape.size() == 2) std::swap(tensor.shape[0], tensor.shape[1]);
    }
    EXPECT_THAT(refusal(tensors, true), HasSubstr("model.embed_tokens.weight"));
}

// load_model reads both files of a directory.
TEST_F(OutputHead, AModelLoadsFromItsDirectory) {
    const std::filesystem::path directory =
        std::filesystem::path(testing::TempDir()) / "kvtape_output_head_test";
    std::filesystem::create_directories(directory);
    write_safetensors((directory / "model.safetensors").string(), tensors_of(tied_));
    std::ofstream(directory / "config.json")
        << R"({"model_type":"llama","vocab_size":32,"hidden_size":16,"num_hidden_layers":2,)"
        << R"("num_attention_heads":4,"num_key_value_heads":2,"head_dim":4,"intermediate_size":32,)"
        << R"("max_position_embeddings":64,"rms_norm_eps":1e-5,"rope_theta":10000.0,)"
        << R"("tie_word_embeddings":true,"hidden_act":"silu"})";
    const Model<float> model = load_model(directory.string());
    EXPECT_EQ(model.config.shape, tiny_llama);
    NoCache cache(tiny_llama, KvDtype::f32, 8);
    Team team(1);
    EXPECT_EQ(feed_one(model, cache, team, random_tokens(8, tiny_llama.vocab, 1), {8}).logits,
              logits(tied_, true));
    // Loading can be given up before each layer that is read, and before each that is packed.
    const std::int64_t chances = 2 * tiny_llama.layers;
    for (std::int64_t given_up_at = 0; given_up_at <= chances; ++given_up_at) {
        std::int64_t calls = 0;
        const auto load = [&] {
            load_model(directory.string(), std::nullopt, [&] {
                if (calls++ == given_up_at) throw 1;
            });
        };
        if (given_up_at < chances) {
            EXPECT_THROW(load(), int);
        } else {
            EXPECT_NO_THROW(load());
        }
        EXPECT_EQ(calls, std::min(given_up_at + 1, chances));
    }
    std::filesystem::remove(directory / "config.json");
    EXPECT_THROW(load_model(directory.string()), Error);
    std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace kvtape
