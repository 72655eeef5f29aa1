// `kvtape run`: its JSON, its text, its logits file, and the limits of a sequence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "support/program.h"
#include "support/tiny_model_files.h"
#include "tracer/tape_reader.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class Run : public testing::Test {
  protected:
    ProgramResult run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"run", "--model", folder_ / "model"});
        return run_kvtape(arguments, folder_.path());
    }
    nlohmann::json run_json(std::vector<std::string> arguments) {
        arguments.push_back("--json");
        const ProgramResult result = run(std::move(arguments));
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.json();
    }
    void model(const TinyModelFiles& files = {}) { write_model(folder_ / "model", files); }

    TestFolder folder_;
};

// n ids, the first of them 9.
std::string ids(int n) {
    std::string text = "9";
    for (int i = 1; i < n; ++i) text.append(1, ',').append(std::to_string(i % 32));
    return text;
}

TEST_F(Run, JsonHasEveryFieldAndNothingElseIsOnStandardOutput) {
    model();
    const auto json = run_json({"--ids", "1,2,3", "--max-tokens", "5"});
    EXPECT_EQ(json["prompt_tokens"], 3);
    EXPECT_EQ(json["token_ids"].size(), 5u);
    EXPECT_EQ(json["itl_seconds"].size(), 4u);
    EXPECT_GT(json["ttft_seconds"].get<double>(), 0);
    EXPECT_THAT(json["logits_hash"].get<std::string>(), testing::MatchesRegex("[0-9a-f]{16}"));
    EXPECT_EQ(json["finish_reason"], "length");
    EXPECT_EQ(json["cache"], "contiguous");
    EXPECT_EQ(json["kv_cache_dtype"], "f32");
    // Reserved for all 64 positions of the model, 128 bytes each.
    EXPECT_EQ(json["kv_bytes_held"], 64 * 128);
    EXPECT_EQ(json["losses"]["saturated"], 0);
    EXPECT_TRUE(json["text"].is_string());
}

TEST_F(Run, NumbersAreDecimal) {
    model();
    EXPECT_EQ(run_json({"--ids", "1", "--max-tokens", "010"})["token_ids"].size(), 10u);
    EXPECT_EQ(run_json({"--ids", " 1 , 007", "--max-tokens", "1"})["prompt_tokens"], 2);
}

// From a file, from a pipe, from standard input, or on the command line: the same prompt.
TEST_F(Run, ThePromptComesFromWhereverItCanBeRead) {
    model(with_text());
    write_file(folder_ / "prompt.txt", "hello");
    const auto hash = [&](const std::string& prompt) {
        const std::string program = KVTAPE_BINARY_DIR "/cli/kvtape run --json --max-tokens 5 ";
        const ProgramResult result =
            run_program("/bin/bash", {"-c", program + "--model model " + prompt}, folder_.path());
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.json()["logits_hash"].get<std::string>();
    };
    const std::string wanted = hash("--prompt hello");
    EXPECT_EQ(hash("--prompt-file prompt.txt"), wanted);
    EXPECT_EQ(hash("--prompt-file - <prompt.txt"), wanted);
    EXPECT_EQ(hash("--prompt-file <(printf hello)"), wanted);
    EXPECT_NE(hash("--prompt-file <(printf hellO)"), wanted);
}

// The end of the text and the warning do not share a line.
TEST_F(Run, AWarningComesAfterTheText) {
    model();
    const ProgramResult result = run_program(
        "/bin/sh",
        {"-c", KVTAPE_BINARY_DIR
         "/cli/kvtape run --model model --ids 1 --max-tokens 3 --kv-cache-dtype fp8 2>&1"},
        folder_.path());
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("\nkvtape: warning: no --kv-scale"));
}

// Advice is given only where it can be followed.
TEST_F(Run, ALimitThatCannotBeRaisedIsNotToBeRaised) {
    model();
    const auto refusal = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"--ids", ids(70)});
        const ProgramResult result = run(more);
        EXPECT_EQ(result.exit_code, 1);
        return result.err;
    };
    EXPECT_THAT(refusal({}), testing::EndsWith("shorten the prompt by 7\n"));
    EXPECT_THAT(refusal({"--max-model-len", "60"}),
                testing::EndsWith("shorten the prompt by 11, or raise --max-model-len\n"));
    EXPECT_THAT(refusal({"--cache", "paged", "--blocks", "1"}),
                HasSubstr("the pool's 1 block of 16 tokens) for"));
}

TEST_F(Run, AllCachesGiveTheSameTokensAndBits) {
    model();
    std::set<std::string> hashes;
    std::set<std::string> tokens;
    for (const char* cache : {"none", "contiguous", "paged"}) {
        for (const char* threads : {"1", "3"}) {
            const auto json = run_json({"--ids", ids(11), "--max-tokens", "20", "--cache", cache,
                                        "--block-size", "3", "--threads", threads});
            hashes.insert(json["logits_hash"].get<std::string>());
            tokens.insert(json["token_ids"].dump());
        }
    }
    EXPECT_EQ(hashes.size(), 1u);
    EXPECT_EQ(tokens.size(), 1u);
}

TEST_F(Run, BytesHeldAreWholeBlocksWhenPagedAndNoneWithoutACache) {
    model();
    // 5 + 3 - 1 = 7 tokens are fed: 2 blocks of 4 tokens, 128 bytes each.
    const auto held = [&](const char* cache) {
        return run_json({"--ids", ids(5), "--max-tokens", "3", "--block-size", "4", "--cache",
                         cache})["kv_bytes_held"];
    };
    EXPECT_EQ(held("paged"), 2 * 4 * 128);
    EXPECT_EQ(held("none"), 0);
}

TEST_F(Run, LogitsFileIsTheSameBitForBitWithEveryCache) {
    model();
    std::map<std::string, std::string> files;
    for (const std::string cache : {"none", "contiguous", "paged"}) {
        const std::string path = folder_ / (cache + ".npy");
        run_json({"--ids", ids(7), "--max-tokens", "6", "--cache", cache, "--block-size", "2",
                  "--prefill-chunk", "3", "--logits", path});
        files[cache] = read_file(path);
    }
    EXPECT_EQ(files["none"], files["contiguous"]);
    EXPECT_EQ(files["none"], files["paged"]);

    // 7 + 6 - 1 positions are fed. The header is a multiple of 64 bytes and names the shape.
    const std::string& file = files["paged"];
    ASSERT_EQ(file.size(), 128u + 12 * 32 * 4);
    EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
    EXPECT_EQ(file[8], 118);
    EXPECT_EQ(file[9], 0);
    EXPECT_THAT(file.substr(10, 118),
                HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (12, 32), }"));
    EXPECT_EQ(file[127], '\n');
    EXPECT_FALSE(std::filesystem::exists(folder_ / "paged.npy.part"));
}

TEST_F(Run, LogitsOfTheFedPositionsAreThoseThatPickedTheTokens) {
    model();
    const std::string path = folder_ / "l.npy";
    const auto json = run_json({"--ids", ids(4), "--max-tokens", "5", "--logits", path});
    const std::string file = read_file(path);
    for (std::size_t i = 0; i < 5; ++i) {
        float row[32];
        std::memcpy(row, file.data() + 128 + (3 + i) * sizeof row, sizeof row);
        EXPECT_EQ(std::max_element(row, row + 32) - row, json["token_ids"][i]) << i;
    }
}

TEST_F(Run, TextIsStreamedAndIsTheTextOfTheIds) {
    model(with_text());
    const auto json = run_json({"--prompt", "Mia has", "--max-tokens", "12"});
    EXPECT_EQ(json["prompt_tokens"], 7);
    const ProgramResult shown = run({"--prompt", "Mia has", "--max-tokens", "12"});
    EXPECT_EQ(shown.exit_code, 0);
    // Control characters of a random model may be anything; the text comes first, then a newline.
    EXPECT_EQ(shown.out.rfind(json["text"].get<std::string>() + "\n", 0), 0u);
    EXPECT_THAT(shown.out, HasSubstr("time to first token (TTFT)"));
    EXPECT_THAT(shown.out, HasSubstr("inter-token latency (ITL)"));
    EXPECT_THAT(shown.out, HasSubstr("median"));
    EXPECT_EQ(shown.err, "");
}

TEST_F(Run, PromptsFromAnOptionAFileAndIdsAreTheSame) {
    model(with_text());
    write_file(folder_ / "prompt.txt", "h\xc3\xa9\n");
    const auto hash = [&](std::vector<std::string> prompt) {
        prompt.insert(prompt.end(), {"--max-tokens", "3"});
        return run_json(prompt)["logits_hash"];
    };
    const auto from_option = hash({"--prompt", "h\xc3\xa9\n"});
    EXPECT_EQ(from_option, hash({"--prompt-file", folder_ / "prompt.txt"}));
    EXPECT_EQ(from_option, hash({"--ids", "104, 195, 169, 10"}));
    EXPECT_EQ(run_json({"--prompt", "-x \"[1,2]\"", "--max-tokens", "1"})["prompt_tokens"], 10);
}

TEST_F(Run, WithoutATokenizerIdsAreShown) {
    model();
    const auto json = run_json({"--ids", "1,2", "--max-tokens", "2"});
    const ProgramResult shown = run({"--ids", "1,2", "--max-tokens", "2"});
    std::string expected;
    for (const auto& id : json["token_ids"]) expected += std::to_string(id.get<int>()) + " ";
    EXPECT_EQ(shown.out.rfind(expected + "\n", 0), 0u);
    const ProgramResult refused = run({"--prompt", "Mia"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("no tokenizer.json"));
}

TEST_F(Run, StopsAtTheEndTokenUnlessToldOtherwise) {
    model();
    const auto free = run_json({"--ids", "1,2", "--max-tokens", "30"});
    const auto third = free["token_ids"][2];
    TinyModelFiles files;
    files.eos = third;
    model(files);
    const auto stopped = run_json({"--ids", "1,2", "--max-tokens", "30"});
    EXPECT_EQ(stopped["finish_reason"], "stop");
    EXPECT_EQ(stopped["token_ids"].back(), third);
    EXPECT_LE(stopped["token_ids"].size(), 3u);
    const auto ignored = run_json({"--ids", "1,2", "--max-tokens", "30", "--ignore-eos"});
    EXPECT_EQ(ignored["token_ids"], free["token_ids"]);
}

// The numbers of K and V change nothing else on a tape.
TEST_F(Run, TheTapeHasTheNumbersIfAskedFor) {
    model();
    const auto steps_of = [&](std::vector<std::string> options, const std::string& file) {
        options.insert(options.end(), {"--ids", "1,2,3", "--max-tokens", "4", "--cache", "none",
                                       "--tape", folder_ / file});
        EXPECT_EQ(run(options).exit_code, 0);
        TapeReader reader(folder_ / file);
        std::vector<Step> steps;
        for (Step step; reader.next(step) == TapeReader::Next::step;) steps.push_back(step);
        return steps;
    };
    const auto plain = steps_of({}, "plain.tape");
    const auto full = steps_of({"--tape-values"}, "full.tape");
    ASSERT_EQ(plain.size(), 4u);
    ASSERT_EQ(full.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(plain[i].rows.empty());
        EXPECT_EQ(plain[i].writes, full[i].writes);
        // 2 layers x 2 KV heads x K and V; the rows of earlier steps have the same bits.
        ASSERT_EQ(full[i].rows.size(), 8u);
        EXPECT_EQ(full[i].rows[0].position_begin, i == 0 ? 0 : static_cast<std::int64_t>(2 + i));
    }
    EXPECT_EQ(run_kvtape({"inspect", folder_ / "full.tape", "--verify"}, folder_.path()).exit_code,
              0);
    const ProgramResult refused = run({"--ids", "1", "--tape-values"});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr("--tape"));
}

// Codes mean nothing without the scale they are multiplied by.
TEST_F(Run, TheTapeNamesTheScaleOfTheCache) {
    model();
    for (const std::string cache : {"none", "contiguous", "paged"}) {
        const std::string tape = folder_ / (cache + ".tape");
        const auto result =
            run({"--ids", "1,2,3", "--max-tokens", "2", "--cache", cache, "--kv-cache-dtype",
                 "fp8_e4m3", "--kv-scale", "0.5", "--tape", tape});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(TapeReader(tape).header().lanes[0].kv_scale, 0.5f) << cache;
    }
}

TEST_F(Run, SeedsDecideWhatTemperatureDraws) {
    model();
    const auto drawn = [&](const char* seed) {
        return run_json({"--ids", "1,2", "--max-tokens", "30", "--temperature", "2", "--top-p",
                         "0.95", "--seed", seed})["token_ids"];
    };
    EXPECT_EQ(drawn("7"), drawn("7"));
    EXPECT_NE(drawn("7"), drawn("8"));
}

// PC-TR-01
TEST_F(Run, TheRopeBaseThatIsAskedForWinsWithANote) {  // PC-LD-19
    model();
    const std::vector<std::string> request = {"--ids", "1,2,3", "--max-tokens", "5"};
    const auto with_base = [&](const char* base) {
        std::vector<std::string> arguments = request;
        arguments.insert(arguments.end(), {"--rope-theta", base, "--json"});
        return run(arguments);
    };
    const auto hash = run_json(request)["logits_hash"];
    const ProgramResult same = with_base("10000");
    EXPECT_EQ(same.json()["logits_hash"], hash);
    EXPECT_THAT(same.err, HasSubstr("rope_theta is 10000.0; 10000.0 is used, as asked"));
    EXPECT_NE(with_base("20000").json()["logits_hash"], hash);
    const ProgramResult refused = with_base("0.5");
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_THAT(refused.err, HasSubstr("rope_theta 0.5"));
}

TEST_F(Run, TooLongAPromptIsRefusedWithBothNumbers) {
    TinyModelFiles files;
    files.max_model_len = 16;
    model(files);
    for (const char* cache : {"none", "contiguous", "paged"}) {
        const ProgramResult result = run({"--ids", ids(20), "--cache", cache});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_EQ(result.out, "");
        EXPECT_THAT(result.err, HasSubstr("20 tokens"));
        EXPECT_THAT(result.err, HasSubstr("16"));
        EXPECT_EQ(result.error_lines(), 1);
    }
}

// PC-TR-02: prompt and new tokens together may reach the limit, the last one included.
TEST_F(Run, TheLimitIsTheConfiguredOneForEveryCache) {
    TinyModelFiles files;
    files.max_model_len = 16;
    model(files);
    for (const char* cache : {"none", "contiguous", "paged"}) {
        const auto json = run_json({"--ids", ids(15), "--cache", cache});
        EXPECT_EQ(json["prompt_tokens"], 15);
        EXPECT_EQ(json["token_ids"].size(), 1u);
        EXPECT_EQ(json["finish_reason"], "length");
        EXPECT_EQ(run({"--ids", ids(16), "--cache", cache}).exit_code, 1);
        EXPECT_EQ(run({"--ids", ids(17), "--cache", cache}).exit_code, 1);
    }
}

// PC-TR-04
TEST_F(Run, TheMessageHasTheRightNumbers) {
    TinyModelFiles files;
    files.max_model_len = 2048;
    model(files);
    const ProgramResult result = run({"--ids", ids(8), "--max-tokens", "2045"});
    EXPECT_EQ(result.exit_code, 1);
    for (const char* number : {"2048", " 8 tokens", "2045", "2053", "over by 5", "2040"}) {
        EXPECT_THAT(result.err, HasSubstr(number));
    }
}

TEST_F(Run, MaxModelLenMayOnlyLowerTheLimit) {
    model();
    EXPECT_EQ(run_json({"--ids", ids(3), "--max-model-len", "10"})["token_ids"].size(), 7u);
    const ProgramResult above = run({"--ids", ids(3), "--max-model-len", "65"});
    EXPECT_EQ(above.exit_code, 1);
    EXPECT_THAT(above.err, HasSubstr("65"));
    EXPECT_THAT(above.err, HasSubstr("64"));
}

// PC-TR-07
TEST_F(Run, MemoryForTheCacheCapsTheSequence) {
    TinyModelFiles files;
    files.max_model_len = 1000;
    model(files);
    for (const char* cache : {"none", "contiguous", "paged"}) {
        const auto json = run_json({"--ids", ids(4), "--cache", cache, "--kv-cache-dtype", "f16",
                                    "--block-size", "8", "--kv-cache-memory-bytes", "4096"});
        EXPECT_EQ(json["token_ids"].size(), 60u) << cache;
        EXPECT_EQ(json["finish_reason"], "length");
        EXPECT_LE(json["kv_bytes_held"], 4096);
    }
    const auto json =
        run_json({"--ids", ids(4), "--kv-cache-dtype", "f16", "--kv-cache-memory-bytes", "4096"});
    EXPECT_THAT(json["finish_detail"].get<std::string>(), HasSubstr("4096 bytes"));
    const ProgramResult none = run({"--ids", ids(4), "--kv-cache-memory-bytes", "100"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("128"));
}

TEST_F(Run, APoolOfBlocksCapsTheSequence) {
    model();
    const auto json =
        run_json({"--ids", ids(4), "--cache", "paged", "--block-size", "4", "--blocks", "3"});
    EXPECT_EQ(json["token_ids"].size(), 8u);
    EXPECT_THAT(json["finish_detail"].get<std::string>(), HasSubstr("3 blocks of 4"));
}

// PC-FP-08
TEST_F(Run, AnFp8CacheWithoutAScaleSaysSoAndCountsWhatSaturated) {
    TinyModelFiles files;
    files.change = [](ModelWeights& weights) {
        for (float& v : weights.layers[0].v) v *= 1000;
    };
    model(files);
    const ProgramResult plain =
        run({"--ids", ids(5), "--max-tokens", "2", "--kv-cache-dtype", "fp8_e4m3", "--json"});
    ASSERT_EQ(plain.exit_code, 0) << plain.err;
    const auto json = plain.json();
    const auto saturated = json["losses"]["saturated"].get<std::int64_t>();
    EXPECT_GT(saturated, 0);
    EXPECT_THAT(plain.err, HasSubstr("no --kv-scale given"));
    EXPECT_THAT(plain.err, HasSubstr("the scale is 1"));
    EXPECT_THAT(plain.err, HasSubstr(std::to_string(saturated) + " stored values saturated"));
    EXPECT_THAT(plain.err, HasSubstr("largest relative error"));
    EXPECT_EQ(plain.error_lines(), 1);

    const ProgramResult scaled = run({"--ids", ids(5), "--max-tokens", "2", "--kv-cache-dtype",
                                      "fp8_e4m3", "--kv-scale", "16", "--json"});
    EXPECT_EQ(scaled.json()["losses"]["saturated"], 0);
    EXPECT_EQ(scaled.err, "");
}

// PC-FP-13
TEST_F(Run, ValuesBeyondF16AreCountedInTheLineThatEndsTheRun) {
    TinyModelFiles files;
    files.change = [](ModelWeights& weights) {
        for (float& v : weights.layers[0].v) v *= 1e6f;
    };
    model(files);
    const ProgramResult result =
        run({"--ids", ids(5), "--kv-cache-dtype", "f16", "--tape", "failed.tape"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_THAT(result.err, HasSubstr("is NaN"));
    EXPECT_THAT(result.err, HasSubstr("stored as infinity or NaN in the f16 cache"));

    // The pass that failed is on the tape, with what was lost.
    const ProgramResult seen = run_kvtape({"inspect", "failed.tape", "--json"}, folder_.path());
    EXPECT_EQ(seen.exit_code, 0) << seen.err;
    EXPECT_THAT(seen.out, HasSubstr("is NaN"));
}

TEST_F(Run, OutputThatCannotBeWrittenIsAnError) {
    model();
    const ProgramResult full =
        run_kvtape({"run", "--model", folder_ / "model", "--ids", "1,2", "--json"}, folder_.path(),
                   "/dev/full");
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.err, HasSubstr("cannot write to standard output"));
}

}  // namespace
}  // namespace kvtape
