// `kvtape inspect`: summary, one step, recount; and tapes that are cut, damaged or empty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cache_picture.h"
#include "support/program.h"
#include "support/tiny_model_files.h"
#include "tracer/tape_writer.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class Inspect : public testing::Test {
  protected:
    // A tape of three lanes: a prompt of 5 tokens, then 6 passes of decoding.
    Inspect() {
        write_model(folder_ / "model", with_text());
        const ProgramResult made =
            run_kvtape({"compare", "--model", "model", "--prompt", "Mia h", "--max-tokens", "7",
                        "--block-size", "4", "--kv-cache-dtype", "f16", "--tape", "t.tape"},
                       folder_.path());
        EXPECT_EQ(made.exit_code, 0) << made.err;
    }
    ProgramResult inspect(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "inspect");
        return run_kvtape(arguments, folder_.path());
    }
    TestFolder folder_;
};

TEST_F(Inspect, SummaryCountsWhatEachLaneDid) {
    const auto json = inspect({"t.tape", "--json"}).json();
    EXPECT_EQ(json["complete"], true);
    EXPECT_EQ(json["steps"], 21);
    EXPECT_EQ(json["shape"]["kv_heads"], 2);
    ASSERT_EQ(json["lanes"].size(), 3u);
    const auto& paged = json["lanes"][2];
    EXPECT_EQ(paged["name"], "paged");
    EXPECT_EQ(paged["kv_cache_dtype"], "f16");
    EXPECT_EQ(paged["block_size"], 4);
    EXPECT_EQ(paged["prefill_steps"], 1);
    EXPECT_EQ(paged["decode_steps"], 6);
    EXPECT_EQ(paged["tokens_computed"], 11);
    EXPECT_EQ(paged["kv_rows_written"], 8 * 11);
    EXPECT_EQ(paged["kv_bytes_written"], 64 * 11);
    EXPECT_EQ(paged["kv_bytes_read"], 64 * 66);  // 1 + 2 + ... + 11 tokens
    EXPECT_EQ(paged["kv_bytes_held"], 64 * 12);
    const ProgramResult text = inspect({"t.tape"});
    EXPECT_EQ(text.exit_code, 0);
    EXPECT_EQ(text.err, "");
    EXPECT_THAT(text.out, HasSubstr("21 steps in 3 lanes"));
}

// PC-MM-10
TEST_F(Inspect, AStepShowsWhatWasReadAndTheWholeBlocks) {
    // Step 5 of a cached lane feeds position 9: 10 tokens, 64 bytes each; 3 blocks of 4 tokens.
    const ProgramResult result = inspect({"t.tape", "--at", "5", "--lane", "paged", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto step = result.json()["at"][0];
    EXPECT_EQ(step["phase"], "decode");
    EXPECT_EQ(step["kv_bytes_read"], 640);
    EXPECT_EQ(step["kv_bytes_written"], 64);
    EXPECT_EQ(step["kv_rows_in_cache"], 80);
    const auto& sequence = step["sequences"][0];
    EXPECT_EQ(sequence["kv_bytes_read_as_whole_blocks"], 768);
    EXPECT_EQ(sequence["block_table"].size(), 3u);
    ASSERT_EQ(sequence["cells"].size(), 10u);
    EXPECT_EQ(sequence["cells"][0]["text"], "M");
    EXPECT_EQ(sequence["cells"][0]["written_step"], 0);
    EXPECT_EQ(sequence["cells"][0]["written_phase"], "prefill");
    EXPECT_EQ(sequence["cells"][9]["written_now"], true);
    // Read by 2 query heads: once per query of the prompt, then once per step.
    EXPECT_EQ(sequence["cells"][0]["times_read"], 2 * 10);
    EXPECT_EQ(sequence["cells"][0]["times_fetched"], 10);
    EXPECT_EQ(sequence["cells"][0]["read_now"], 2);
}

TEST_F(Inspect, AStepIsDrawnForEachLane) {
    const ProgramResult result = inspect({"t.tape", "--at", "5"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("lane none, step 5 of 7: decode"));
    EXPECT_THAT(result.out, HasSubstr("0  ##########\n"));
    EXPECT_THAT(result.out, HasSubstr("0  ooooooooo#\n"));
    EXPECT_THAT(result.out, HasSubstr("[oooo][oooo][o#..]"));
    EXPECT_THAT(result.out, HasSubstr("block table: "));
    EXPECT_THAT(inspect({"t.tape", "--at", "0"}).out, HasSubstr("\"Mia h\""));
    EXPECT_EQ(
        inspect({"t.tape", "--at", "1", "--layer", "1", "--kv-head", "1", "--kind", "v"}).exit_code,
        0);
}

TEST_F(Inspect, WhatTheTapeDoesNotHaveIsRefused) {
    const struct {
        std::vector<std::string> arguments;
        const char* words;
    } wrongs[] = {{{"t.tape", "--at", "7"}, "0 to 6"},
                  {{"t.tape", "--at", "-1"}, "--at is -1"},
                  {{"t.tape", "--at", "1", "--lane", "cuda"}, "none, contiguous, paged"},
                  {{"t.tape", "--at", "1", "--layer", "2"}, "--layer is 2"},
                  {{"t.tape", "--at", "1", "--kv-head", "2"}, "--kv-head is 2"},
                  {{"t.tape", "--at", "1", "--kind", "x"}, "k or v"}};
    for (const auto& wrong : wrongs) {
        const ProgramResult result = inspect(wrong.arguments);
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_EQ(result.error_lines(), 1);
        EXPECT_THAT(result.err, HasSubstr(wrong.words));
    }
}

TEST_F(Inspect, AFreshTapeVerifies) {
    const ProgramResult result = inspect({"t.tape", "--verify"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("verified"));
    EXPECT_THAT(result.out, HasSubstr("no contradiction"));
}

// PC-TV-04
TEST_F(Inspect, ACutTapeShowsWhatPrecedesTheCutAndHasItsOwnExitCode) {
    const std::string whole = read_file(folder_ / "t.tape");
    for (const std::size_t cut : {whole.size() - 1, whole.size() / 2, whole.size() / 2 + 1}) {
        write_file(folder_ / "cut.tape", whole.substr(0, cut));
        const ProgramResult result = inspect({"cut.tape", "--verify"});
        EXPECT_EQ(result.exit_code, 4);
        EXPECT_EQ(result.error_lines(), 1);
        EXPECT_THAT(result.err, HasSubstr("byte " + std::to_string(cut)));
        EXPECT_THAT(result.out, HasSubstr("tokens computed"));
        EXPECT_THAT(result.out, HasSubstr("no contradiction"));
        EXPECT_EQ(inspect({"cut.tape", "--json"}).json()["complete"], false);
    }
}

// A byte that is not what was written either cannot be read, or contradicts the rest of the tape,
// or is in what nothing else tells of: times, texts, ids and logits.
TEST_F(Inspect, AFlippedByteInTheNumbersIsFound) {
    const std::string line_tape = folder_ / "t.jsonl";
    ASSERT_EQ(run_kvtape({"run", "--model", "model", "--prompt", "Mia h", "--max-tokens", "7",
                          "--tape", line_tape},
                         folder_.path())
                  .exit_code,
              0);
    const std::string whole = read_file(line_tape);
    int found = 0;
    for (const char* field : {"\"writes\":[[", "\"reads\":[[", "\"flops\":[", "\"written\":"}) {
        std::size_t at = whole.find(field, whole.find("\"step\":3"));
        ASSERT_NE(at, std::string::npos) << field;
        at = whole.find_first_of("123456789", at);
        std::string damaged = whole;
        damaged[at] = damaged[at] == '9' ? '8' : static_cast<char>(damaged[at] + 1);
        write_file(folder_ / "damaged.jsonl", damaged);
        const ProgramResult result = inspect({"damaged.jsonl", "--verify"});
        EXPECT_TRUE(result.exit_code == 3 || result.exit_code == 1) << field;
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        found += result.exit_code == 3 ? 1 : 0;
        if (result.exit_code == 3) {
            EXPECT_THAT(result.out, HasSubstr("problem: "));
        }
    }
    EXPECT_GE(found, 1);
}

TEST_F(Inspect, ADamagedRecordIsNamedAfterWhatPrecedesIt) {
    std::string tape = read_file(folder_ / "t.tape");
    // Into the middle of a record: its first byte of every CBOR item becomes one that cannot be.
    for (std::size_t i = tape.size() / 2; i < tape.size() / 2 + 200; ++i) tape[i] = '\xff';
    write_file(folder_ / "damaged.tape", tape);
    const ProgramResult result = inspect({"damaged.tape", "--verify"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("corrupt at record"));
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_THAT(result.out, HasSubstr("tokens computed"));
}

// PC-TV-13
TEST_F(Inspect, ATapeWithoutStepsSaysSo) {
    const TapeHeader header{"tiny", tiny_llama, 64, {{"contiguous", "cpu", "contiguous"}}};
    TapeWriter writer(folder_ / "empty.tape", header);
    writer.close("out of memory");
    const ProgramResult result = inspect({"empty.tape", "--verify"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("no steps: out of memory"));
    EXPECT_EQ(inspect({"empty.tape", "--json"}).json()["steps"], 0);
    EXPECT_EQ(inspect({"empty.tape", "--at", "0"}).exit_code, 1);
}

TEST(CachePicture, DrawsBlocksAndGroups) {
    std::vector<Cell> cells(7);
    for (std::size_t i = 0; i < 5; ++i) cells[i].filled = true;
    cells[3].read_now = 4;
    cells[4].written_now = true;
    EXPECT_EQ(cache_picture(cells, 3, 1), " 0  [---][o#.][.]\n");
    EXPECT_EQ(cache_picture(cells, 0, 0), "0  ---o#..\n");
    cells.resize(61);
    EXPECT_EQ(cache_picture(cells, 0, 0).substr(0, 17), " 0  ---o#..... ..");
    EXPECT_THAT(cache_picture(cells, 0, 0), testing::EndsWith("\n60  .\n"));
    EXPECT_EQ(cache_picture({}, 4, 2), "");
}

}  // namespace
}  // namespace kvtape
