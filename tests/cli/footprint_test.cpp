// `kvtape footprint`: memory arithmetic, rounded down, with the unit that matches the divisor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class Footprint : public testing::Test {
  protected:
    ProgramResult footprint(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "footprint");
        return run_kvtape(arguments, folder_.path());
    }
    nlohmann::json json(std::vector<std::string> arguments) {
        arguments.push_back("--json");
        const ProgramResult result = footprint(std::move(arguments));
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.json();
    }
    std::string config(const nlohmann::json& content) {
        write_file(folder_ / "config.json", content.dump());
        return folder_ / "config.json";
    }
    TestFolder folder_;
};

std::vector<std::string> sizes(int layers, int kv_heads, int head_dim,
                               std::vector<std::string> more = {}) {
    std::vector<std::string> all = {"--layers",   std::to_string(layers),
                                    "--kv-heads", std::to_string(kv_heads),
                                    "--head-dim", std::to_string(head_dim)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// PC-MM-01
TEST_F(Footprint, GroupedHeadsDivideIt) {
    EXPECT_EQ(json(sizes(32, 32, 128))["per_token"]["bytes"], 524'288);
    EXPECT_EQ(json(sizes(32, 8, 128))["per_token"]["bytes"], 131'072);
    EXPECT_EQ(json(sizes(2, 2, 4))["per_token"]["bytes"], 64);
    EXPECT_EQ(json(sizes(2, 2, 4, {"--dtype", "f32"}))["per_token"]["bytes"], 128);
    EXPECT_EQ(json(sizes(2, 2, 4, {"--dtype", "fp8_e5m2"}))["per_token"]["bytes"], 32);
    EXPECT_THAT(footprint(sizes(32, 8, 128)).out,
                HasSubstr("131,072 bytes = 131.072 kB = 128.000 KiB"));
}

// PC-MM-02
TEST_F(Footprint, HeadDimComesFromTheConfig) {
    const auto bytes = [&](int layers, int hidden, int heads) {
        return json({"--config",
                     config({{"model_type", "qwen3"},
                             {"num_hidden_layers", layers},
                             {"hidden_size", hidden},
                             {"num_attention_heads", heads},
                             {"num_key_value_heads", 8},
                             {"head_dim", 128}}),
                     "--dtype", "bf16"})["per_token"]["bytes"];
    };
    EXPECT_EQ(bytes(36, 2560, 32), 147'456);
    EXPECT_EQ(bytes(64, 5120, 64), 262'144);
}

// PC-MM-04
TEST_F(Footprint, UnitsMatchTheirDivisors) {
    const ProgramResult grouped = footprint(sizes(80, 8, 128, {"--tokens", "32768"}));
    EXPECT_THAT(grouped.out, HasSubstr("10,737,418,240 bytes = 10.737 GB = 10.000 GiB"));
    EXPECT_THAT(footprint(sizes(80, 8, 128, {"--tokens", "32000"})).out,
                HasSubstr("= 10.486 GB ="));
    EXPECT_THAT(footprint(sizes(80, 64, 128, {"--tokens", "32768"})).out,
                HasSubstr("= 85.899 GB = 80.000 GiB"));
    const auto all = json(sizes(80, 8, 128, {"--tokens", "32768", "--sequences", "3"}));
    EXPECT_EQ(all["per_sequence"]["gib"], 10.0);
    EXPECT_EQ(all["all_sequences"]["bytes"], 3 * 10'737'418'240);
    EXPECT_NEAR(all["per_sequence"]["gb"].get<double>(), 10.73741824, 1e-12);
}

// PC-MM-05
TEST_F(Footprint, ABudgetIsRoundedDownToBlocks) {
    const auto a = json(sizes(2, 2, 4, {"--block-size", "4", "--budget", "1000000"}));
    EXPECT_EQ(a["per_block"]["bytes"], 256);
    EXPECT_EQ(a["fits"]["blocks"], 3906);
    EXPECT_EQ(a["fits"]["tokens"], 15'624);
    EXPECT_EQ(a["fits"]["bytes_unused"], 64);

    const ProgramResult b = footprint(
        sizes(32, 8, 128, {"--block-size", "16", "--blocks", "1478", "--tokens", "29000"}));
    EXPECT_EQ(b.exit_code, 1);
    EXPECT_EQ(b.error_lines(), 1);
    for (const char* words : {"29,000", "23,648", "0.82"}) EXPECT_THAT(b.err, HasSubstr(words));

    for (const auto& [blocks, tokens] : {std::pair("229", 3664), {"378", 6048}}) {
        const auto c = json(sizes(32, 8, 128, {"--block-size", "16", "--blocks", blocks}));
        EXPECT_EQ(c["fits"]["tokens"], tokens);
    }
}

// PC-MM-07
TEST_F(Footprint, LatentAttentionIsRefused) {
    const ProgramResult result = footprint({"--config", config({{"model_type", "deepseek_v3"},
                                                                {"num_hidden_layers", 61},
                                                                {"hidden_size", 7168},
                                                                {"num_attention_heads", 128},
                                                                {"num_key_value_heads", 128},
                                                                {"kv_lora_rank", 512},
                                                                {"qk_rope_head_dim", 64}})});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("kv_lora_rank"));
}

// PC-MM-08
TEST_F(Footprint, HeadsMustBeSharedEvenly) {
    const auto good = json(sizes(2, 8, 64, {"--heads", "32"}));
    EXPECT_EQ(good["kv_heads"], 8);
    EXPECT_EQ(good["group_size"], 4);
    EXPECT_THAT(footprint(sizes(2, 8, 64, {"--heads", "32"})).out,
                HasSubstr("8 KV heads: each KV head serves a group of 4"));
    for (const auto& [heads, kv_heads] : {std::pair(7, 2), {3, 2}, {4, 0}, {2, 4}}) {
        const ProgramResult by_hand =
            footprint(sizes(2, kv_heads, 64, {"--heads", std::to_string(heads)}));
        const ProgramResult by_config =
            footprint({"--config", config({{"model_type", "llama"},
                                           {"num_hidden_layers", 2},
                                           {"hidden_size", 64},
                                           {"head_dim", 8},
                                           {"num_attention_heads", heads},
                                           {"num_key_value_heads", kv_heads}})});
        for (const ProgramResult& result : {by_hand, by_config}) {
            EXPECT_EQ(result.exit_code, 1);
            EXPECT_EQ(result.out, "");
            EXPECT_THAT(result.err, HasSubstr(std::to_string(heads)));
            EXPECT_THAT(result.err, HasSubstr(std::to_string(kv_heads)));
        }
    }
}

// PC-MM-10
TEST_F(Footprint, ADecodeStepReadsTheTrueLength) {
    for (const auto& [tokens, read, whole] :
         {std::tuple("1", 64, 256), {"10", 640, 768}, {"64", 4096, 4096}}) {
        const auto step =
            json(sizes(2, 2, 4, {"--block-size", "4", "--tokens", tokens}))["decode_step"];
        EXPECT_EQ(step["kv_bytes_read"], read);
        EXPECT_EQ(step["kv_bytes_read_as_whole_blocks"], whole);
        EXPECT_EQ(step["kv_bytes_written"], 64);
    }
}

// PC-MM-11
TEST_F(Footprint, AMemoryBelowZeroIsRefusedWithEveryTerm) {
    const ProgramResult refused =
        footprint(sizes(32, 8, 128,
                        {"--block-size", "16", "--total", "8", "--fraction", "0.7", "--weights",
                         "5.2", "--other", "0.03", "--activations", "1.42"}));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.error_lines(), 1);
    for (const char* words : {"8.00 GiB", "0.7", "5.60 GiB", "5.20 GiB", "0.03 GiB", "1.42 GiB",
                              "-1.05 GiB", "need 1.05 GiB less"}) {
        EXPECT_THAT(refused.err, HasSubstr(words));
    }
    // At its maximum, raising the fraction is no advice.
    const ProgramResult full =
        footprint(sizes(32, 8, 128, {"--block-size", "16", "--total", "8", "--weights", "9"}));
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.err, testing::Not(HasSubstr("--fraction above")));

    // A block of 16 tokens of 128 KiB is 2 MiB; 3 MiB hold one and a half.
    const ProgramResult one = footprint(
        sizes(32, 8, 128, {"--block-size", "16", "--total", "1", "--weights", "0.9970703125"}));
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr("1 blocks, 16 tokens"));
    EXPECT_THAT(one.out, HasSubstr("1 sequence of up to 16 tokens"));
    const ProgramResult none =
        footprint(sizes(32, 8, 128, {"--block-size", "16", "--budget", "2097151"}));
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("2,097,151"));
    EXPECT_THAT(none.err, HasSubstr("2,097,152"));
}

TEST_F(Footprint, NumbersOutOfRangeAreRefused) {
    const std::vector<std::vector<std::string>> wrongs = {
        sizes(0, 8, 128),
        sizes(-1, 8, 128),
        sizes(32, 0, 128),
        sizes(32, 8, 0),
        sizes(1048577, 8, 128),
        sizes(1048576, 1048576, 1048576),
        sizes(32, 8, 128, {"--tokens", "0"}),
        sizes(32, 8, 128, {"--block-size", "0"}),
        sizes(32, 8, 128, {"--tokens", "8", "--sequences", "0"}),
        sizes(32, 8, 128, {"--block-size", "16", "--blocks", "0"}),
        sizes(32, 8, 128, {"--budget", "lots"}),
        sizes(32, 8, 128, {"--budget", "0"}),
        sizes(32, 8, 128, {"--dtype", "int4"}),
        sizes(32, 8, 128, {"--total", "-1"}),
        sizes(32, 8, 128, {"--total", "nan"}),
        sizes(32, 8, 128, {"--total", "8", "--fraction", "1.5"}),
        sizes(1000000, 1000, 1000, {"--tokens", "1000000000000", "--sequences", "1000000000"})};
    for (const auto& wrong : wrongs) {
        const ProgramResult result = footprint(wrong);
        EXPECT_EQ(result.exit_code, 1) << result.out << testing::PrintToString(wrong);
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        EXPECT_EQ(result.out, "");
    }
    EXPECT_EQ(footprint(sizes(32, 8, 128, {"--blocks", "4"})).exit_code, 2);
    EXPECT_EQ(footprint(sizes(32, 8, 128, {"--weights", "4"})).exit_code, 2);
}

}  // namespace
}  // namespace kvtape
