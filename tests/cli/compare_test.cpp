// `kvtape compare`: its JSON against the closed forms, its tape, and what it says when bits differ.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/comparison_report.h"
#include "support/program.h"
#include "support/tiny_model_files.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class Compare : public testing::Test {
  protected:
    Compare() { write_model(folder_ / "model"); }
    ProgramResult compare(std::vector<std::string> more) {
        more.insert(more.begin(), {"compare", "--model", "model"});
        return run_kvtape(more, folder_.path());
    }
    TestFolder folder_;
};

constexpr std::int64_t prompt_length = 6, made_tokens = 9;

// What the passes of a decoder must cost: 6 tokens, then 1 (or all) per pass.
FlopCounts expected(bool cached) {
    FlopCounts sum;
    for (std::int64_t length = prompt_length; length < prompt_length + made_tokens; ++length) {
        const std::int64_t tokens = cached && length > prompt_length ? 1 : length;
        sum += expected_flops(tiny_llama, {{length - tokens, tokens, 1}});
    }
    return sum;
}

TEST_F(Compare, JsonHasTheCostsOfEachDecoder) {
    const ProgramResult result =
        compare({"--ids", "3,1,4,1,5,9", "--max-tokens", "9", "--block-size", "4", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = result.json();
    EXPECT_EQ(json["prompt_tokens"], prompt_length);
    EXPECT_EQ(json["generated_tokens"], made_tokens);
    EXPECT_EQ(json["equal_bits"], true);
    ASSERT_EQ(json["decoders"].size(), 3u);

    const char* caches[] = {"none", "contiguous", "paged"};
    // 2 L G = 8 rows per token; 14 tokens are fed in all.
    constexpr std::int64_t fed = prompt_length + made_tokens - 1;
    constexpr std::int64_t uncached_tokens =
        (fed * (fed + 1) - (prompt_length - 1) * prompt_length) / 2;
    const std::int64_t written[] = {8 * uncached_tokens, 8 * fed, 8 * fed};
    // Without a cache the rows of a pass are forgotten; then 64 reserved positions; then 4 blocks.
    const std::int64_t held[] = {0, 64 * 128, 4 * 4 * 128};
    for (std::size_t i = 0; i < 3; ++i) {
        const auto& decoder = json["decoders"][i];
        EXPECT_EQ(decoder["cache"], caches[i]);
        EXPECT_EQ(decoder["text"], json["decoders"][0]["text"]);
        EXPECT_EQ(decoder["logits_hash"], json["decoders"][0]["logits_hash"]);
        EXPECT_EQ(decoder["kv_rows_written"], written[i]);
        // Two query heads share a KV head: each fetched row is read twice.
        EXPECT_EQ(decoder["kv_rows_read"], 2 * decoder["kv_rows_fetched"].get<std::int64_t>());
        EXPECT_EQ(decoder["kv_bytes_held"], held[i]);
        EXPECT_GT(decoder["seconds"].get<double>(), 0);
        const FlopCounts flops = expected(i > 0);
        for (int c = 0; c < component_count; ++c) {
            const auto component = static_cast<Component>(c);
            EXPECT_EQ(decoder["flops"][name(component)], flops[component]) << name(component);
        }
        EXPECT_EQ(decoder["flops"]["total"], flops.total());
    }
    // Each query at p fetches p + 1 keys and values from 2 layers and 2 KV heads.
    EXPECT_EQ(json["decoders"][1]["kv_rows_fetched"], 8 * (fed * (fed + 1) / 2));
    EXPECT_EQ(json["logit_rows_compared"], 3 * made_tokens);
    EXPECT_EQ(json["kv_rows_compared"], written[0] + written[1] + written[2]);
}

TEST_F(Compare, EveryDtypeChunkAndBlockSizeGivesEqualBits) {
    for (const char* dtype : {"f32", "f16", "bf16", "fp8_e4m3", "fp8_e5m2"}) {
        for (const char* chunk : {"1", "2", "5"}) {
            const ProgramResult result =
                compare({"--ids", "3,1,4,1,5", "--max-tokens", "6", "--block-size", chunk,
                         "--prefill-chunk", chunk, "--kv-cache-dtype", dtype, "--json"});
            ASSERT_EQ(result.exit_code, 0) << result.err;
            EXPECT_EQ(result.json()["equal_bits"], true) << dtype << " " << chunk;
        }
    }
}

TEST_F(Compare, TableAndVerdictAreForPeople) {
    const ProgramResult result = compare({"--ids", "3,1,4", "--max-tokens", "5"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const char* words :
         {"none", "contiguous", "paged", "FLOP", "K and V rows written",
          "equal bits: 15 rows of logits", "every bit equal", "largest difference of a logit 0;"}) {
        EXPECT_THAT(result.out, HasSubstr(words));
    }
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);  // the ids of the text may be long
    while (std::getline(lines, line)) EXPECT_LE(line.size(), 100u) << line;
}

TEST_F(Compare, TheTapeHasThreeLanesAndVerifies) {
    ASSERT_EQ(compare({"--ids", "3,1,4", "--max-tokens", "5", "--tape", "c.tape"}).exit_code, 0);
    const ProgramResult result =
        run_kvtape({"inspect", "c.tape", "--verify", "--json"}, folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const auto json = result.json();
    ASSERT_EQ(json["lanes"].size(), 3u);
    EXPECT_EQ(json["lanes"][2]["cache"], "paged");
    EXPECT_EQ(json["steps"], 15);
    EXPECT_EQ(json["verify"]["ok"], true);
}

TEST_F(Compare, ATooLongPromptIsRefusedOnce) {
    const ProgramResult result =
        compare({"--ids", "1,2,3,4,5", "--max-model-len", "4", "--max-tokens", "1"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_THAT(result.err, HasSubstr("5 tokens"));
}

// The decoders of a working program do not differ, so the report is given a difference.
TEST(Verdict, ADifferenceIsNamedByStepLayerAndPosition) {
    ComparisonRun run;
    run.comparison.decoders.resize(3);
    run.comparison.decoders[0].lane.name = "none";
    run.comparison.verdict = Verdict::different;
    run.comparison.first_difference = Difference{"paged", 3, 1, 12, "K row of KV head 1"};
    EXPECT_EQ(verdict_line(run),
              "bits differ (different): decoder paged differs from none first at step 3, layer 1, "
              "position 12 (K row of KV head 1)");
    run.comparison.first_difference = Difference{"contiguous", 0, -1, 4, "logits"};
    EXPECT_THAT(verdict_line(run), HasSubstr("at step 0, position 4 (logits; the K and V rows"));
}

TEST(Verdict, EndsTheProgramWithItsExitCode) {
    ComparisonRun run;
    run.comparison.decoders.resize(3);
    run.comparison.verdict = Verdict::equal_bits;
    EXPECT_EQ(conclude(run), 0);
    for (const Verdict worse : {Verdict::different, Verdict::near_tie}) {
        run.comparison.verdict = worse;
        testing::internal::CaptureStderr();
        EXPECT_EQ(conclude(run), 3);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "kvtape: " + verdict_line(run) + "\n");
    }
}

// PC-EQ-16
TEST(Verdict, ANearTieIsCalledOne) {
    ComparisonRun run;
    run.comparison.decoders.resize(1);
    run.comparison.verdict = Verdict::near_tie;
    run.comparison.largest_logit_difference = 2e-6f;
    run.comparison.smallest_margin = 1e-6f;
    EXPECT_THAT(verdict_line(run), HasSubstr("near-tie"));
    EXPECT_THAT(margin_line(run), HasSubstr("2e-06"));
    EXPECT_THAT(margin_line(run), HasSubstr("1e-06"));
}

}  // namespace
}  // namespace kvtape
