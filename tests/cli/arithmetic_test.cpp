// `kvtape arithmetic`: counts, closed forms, exponents and crossovers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/arithmetic_report.h"
#include "support/program.h"
#include "support/tiny_model_files.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

TEST(Arithmetic, CountsEqualClosedFormsAndGrowAsTheyMust) {
    const TestFolder folder;
    const ProgramResult result =
        run_kvtape({"arithmetic", "--lengths", "64,16,32,128", "--json"}, folder.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = result.json();
    EXPECT_EQ(json["lengths"], (std::vector<int>{16, 32, 64, 128}));
    EXPECT_EQ(json["equal"], true);
    ASSERT_EQ(json["decoders"].size(), 3u);
    for (const auto& decoder : json["decoders"]) {
        for (const auto& [component, costs] : decoder["components"].items()) {
            EXPECT_EQ(costs["measured"], costs["closed_form"]) << component;
            EXPECT_EQ(costs["measured"].size(), 4u);
        }
    }
    const auto exponent = [&](std::size_t decoder, const char* component) {
        return json["decoders"][decoder]["components"][component]["exponent"].get<double>();
    };
    // n tokens, n (n + 1) / 2 tokens, or pairs of them: the lower powers fade slowly.
    EXPECT_NEAR(exponent(1, "projections"), 1, 1e-9);
    EXPECT_NEAR(exponent(1, "mlp"), 1, 1e-9);
    EXPECT_NEAR(exponent(1, "attention"), 2, 0.03);
    EXPECT_NEAR(exponent(0, "projections"), 2, 0.03);
    EXPECT_NEAR(exponent(0, "attention"), 3, 0.05);
    EXPECT_NEAR(exponent(0, "head"), 1, 1e-9);
    EXPECT_EQ(json["decoders"][1]["components"], json["decoders"][2]["components"]);
}

// The sums written out: n tokens through linear layers of 9216 FLOP each, 128 per (query, key).
TEST(Arithmetic, TheTinyLlamaCostsWhatItMust) {
    const TestFolder folder;
    write_model(folder / "model");
    const ProgramResult result = run_kvtape(
        {"arithmetic", "--model", "model", "--lengths", "1,10", "--json"}, folder.path());
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = result.json();
    const auto cost = [&](std::size_t decoder, const char* component, std::size_t length) {
        return json["decoders"][decoder]["components"][component]["measured"][length]
            .get<std::int64_t>();
    };
    const auto linear = [&](std::size_t decoder, std::size_t length) {
        return cost(decoder, "projections", length) + cost(decoder, "mlp", length);
    };
    EXPECT_EQ(linear(1, 0), 9216);
    EXPECT_EQ(linear(1, 1), 10 * 9216);
    EXPECT_EQ(linear(0, 1), 55 * 9216);
    EXPECT_EQ(cost(1, "attention", 1), 55 * 128);
    EXPECT_EQ(cost(0, "attention", 1), 220 * 128);  // 1 + 3 + 6 + ... + 55
    EXPECT_EQ(cost(0, "head", 1), 10 * 1024);
    EXPECT_EQ(json["decoders"][0]["components"]["mlp"]["exponent"].is_null(), false);

    const ProgramResult too_long =
        run_kvtape({"arithmetic", "--model", "model", "--lengths", "64"}, folder.path());
    EXPECT_EQ(too_long.exit_code, 1);
    EXPECT_THAT(too_long.err, HasSubstr("63"));
}

// PC-FL-07
TEST(Arithmetic, MacAndFlopAreLabelled) {
    const TestFolder folder;
    const std::vector<std::string> arguments = {"arithmetic", "--hidden",   "16", "--heads",
                                                "4",          "--kv-heads", "4",  "--head-dim",
                                                "4",          "--lengths",  "2,4"};
    const ProgramResult text = run_kvtape(arguments, folder.path());
    ASSERT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, testing::ContainsRegex("matrix +outputs +inputs +MAC +FLOP"));
    EXPECT_THAT(text.out, testing::ContainsRegex("q +16 +16 +256 +512"));
    auto with_json = arguments;
    with_json.push_back("--json");
    const auto json = run_kvtape(with_json, folder.path()).json();
    EXPECT_EQ(json["unit"], "FLOP");
    EXPECT_EQ(json["linear_layers"][0]["mac_per_token"], 256);
    EXPECT_EQ(json["linear_layers"][0]["flop_per_token"], 512);
}

TEST(Arithmetic, ADifferenceIsNamedAndCounted) {
    ArithmeticReport report;
    report.shape = tiny_llama;
    report.lengths = {4};
    report.decoders = {{"none", std::vector<FlopCounts>(1), std::vector<FlopCounts>(1)}};
    EXPECT_EQ(report.first_difference(), "");
    report.decoders[0].measured[0][Component::rope] = 7;
    EXPECT_THAT(report.first_difference(), HasSubstr("rope: 7 FLOP were counted"));
    EXPECT_EQ(report.json()["equal"], false);
}

TEST(Crossover, IsWhereAttentionFirstCostsMore) {
    // In a pass with a cache: 4 H D t against 2 d (2 H D + 2 G D), so t > d (1 + G / H).
    const ModelShape shape{3, 64, 4, 2, 16, 192, 256};
    const Crossover cached = find_crossover(shape, true, false);
    EXPECT_EQ(cached.pass, 97);
    // In all: n (n + 1) / 2 > 96 n.
    EXPECT_EQ(cached.total, 192);
    // Without a cache: t (t + 1) / 2 > 96 t, and n (n + 1) (n + 2) / 6 > 96 n (n + 1) / 2.
    const Crossover uncached = find_crossover(shape, false, false);
    EXPECT_EQ(uncached.pass, 192);
    EXPECT_EQ(uncached.total, 287);
    // The MLP adds 6 d F / (4 H D) = 288 to 96.
    EXPECT_EQ(find_crossover(shape, true, true).pass, 385);
}

TEST(FittedExponent, IsTheSlopeOverTheLongerHalf) {
    EXPECT_NEAR(*fitted_exponent({2, 4, 8, 16}, {1, 1, 64, 256}), 2, 1e-12);
    EXPECT_NEAR(*fitted_exponent({2, 4, 8}, {5, 16, 128}), 3, 1e-12);
    EXPECT_FALSE(fitted_exponent({8}, {5}).has_value());
    EXPECT_FALSE(fitted_exponent({8, 16}, {0, 0}).has_value());
}

}  // namespace
}  // namespace kvtape
