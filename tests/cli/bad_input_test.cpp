// Every wrong word on the command line and every unusable model gets one clear line and a non-zero
// exit code, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/tiny_model_files.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

struct Wrong {
    const char* name;
    std::vector<std::string> arguments;
    int exit_code;
    std::vector<std::string> words;  // that the line must contain
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
    *out << wrong.name;
}

class BadInput : public testing::TestWithParam<Wrong> {};

TEST_P(BadInput, GetsOneLine) {
    const TestFolder folder;
    write_model(folder / "model");
    write_file(folder / "latin1.txt", "caf\xe9");
    const ProgramResult result = run_kvtape(GetParam().arguments, folder.path());
    EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_EQ(result.err.rfind("kvtape: ", 0), 0u) << result.err;
    for (const std::string& word : GetParam().words) EXPECT_THAT(result.err, HasSubstr(word));
}

std::vector<std::string> run_with(std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "--model", "model", "--ids", "1,2,3"});
    return more;
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadInput,
    testing::Values(
        Wrong{"NoVerb", {}, 2, {"no verb", "run", "compare", "lesson"}},
        Wrong{"UnknownVerb", {"fly"}, 2, {"'fly'", "demo", "run", "inspect", "footprint"}},
        Wrong{"UnknownOption", run_with({"--fast"}), 2, {"--fast", "run --help"}},
        Wrong{"NoPrompt", {"run", "--model", "model"}, 2, {"--prompt", "--ids"}},
        Wrong{"TwoPrompts", run_with({"--prompt", "x"}), 2, {"only one"}},
        Wrong{"NotANumber", run_with({"--max-tokens", "many"}), 2, {"--max-tokens", "many"}},
        Wrong{"HugeNumber",
              run_with({"--max-tokens", "99999999999999999999"}),
              2,
              {"--max-tokens is 99999999999999999999", "64 bits"}},
        Wrong{"HexNumber", run_with({"--max-tokens", "0x10"}), 2, {"--max-tokens is '0x10'"}},
        Wrong{"FractionOfAToken", run_with({"--max-tokens", "1.5"}), 2, {"is '1.5'"}},
        Wrong{"EmptyNumber", run_with({"--max-tokens", ""}), 2, {"--max-tokens is ''"}},
        Wrong{"EmptyScale", run_with({"--kv-scale", ""}), 2, {"--kv-scale is ''"}},
        Wrong{"EmptyTape", run_with({"--tape", ""}), 2, {"--tape is empty"}},
        Wrong{"EmptyLogits", run_with({"--logits", ""}), 2, {"--logits is empty"}},
        Wrong{"NegativeSeed", run_with({"--seed", "-1"}), 2, {"--seed is '-1'", "0 or more"}},
        Wrong{"HugeSeed",
              run_with({"--seed", "18446744073709551616"}),
              2,
              {"--seed is 18446744073709551616", "64 bits"}},
        Wrong{"HugeTemperature", run_with({"--temperature", "1e999"}), 2, {"1e999", "64 bits"}},
        Wrong{"TwoVerbs", run_with({"demo"}), 2, {"demo"}},
        Wrong{"TheSameVerbTwice", run_with({"run"}), 2, {"run"}},
        Wrong{"OneFileTwice",
              run_with({"--tape", "t.tape", "--logits", "./t.tape"}),
              2,
              {"--tape", "--logits", "same file"}},
        Wrong{"BlocksWithoutPages", run_with({"--blocks", "3"}), 2, {"--blocks", "paged"}},
        Wrong{"NoTokens", run_with({"--max-tokens", "0"}), 1, {"--max-tokens is 0"}},
        Wrong{"NegativeTokens", run_with({"--max-tokens", "-3"}), 1, {"--max-tokens is -3"}},
        Wrong{"BlockSizeZero", run_with({"--block-size", "0"}), 1, {"--block-size is 0"}},
        Wrong{"NegativeBlockSize", run_with({"--block-size", "-1"}), 1, {"--block-size is -1"}},
        Wrong{"NoBlocks", run_with({"--cache", "paged", "--blocks", "0"}), 1, {"--blocks is 0"}},
        Wrong{"ThreadsZero", run_with({"--threads", "0"}), 1, {"--threads is 0"}},
        Wrong{"ThreadsMany", run_with({"--threads", "100000"}), 1, {"--threads", "1024"}},
        Wrong{"ChunkZero", run_with({"--prefill-chunk", "0"}), 1, {"--prefill-chunk is 0"}},
        Wrong{"UnknownCache", run_with({"--cache", "magic"}), 1, {"'magic'", "contiguous"}},
        Wrong{
            "UnknownDtype", run_with({"--kv-cache-dtype", "f8"}), 1, {"'f8'", "bf16", "fp8_e5m2"}},
        Wrong{"FnuzDtype", run_with({"--kv-cache-dtype", "fp8_e4m3fnuz"}), 1, {"fnuz"}},
        Wrong{"ScaleWithoutFp8", run_with({"--kv-scale", "2"}), 1, {"--kv-scale", "f32"}},
        Wrong{"ScaleZero",
              run_with({"--kv-cache-dtype", "fp8", "--kv-scale", "0"}),
              1,
              {"--kv-scale is 0"}},
        Wrong{"ScaleNan",
              run_with({"--kv-cache-dtype", "fp8", "--kv-scale", "nan"}),
              1,
              {"--kv-scale is nan"}},
        Wrong{"MemoryInWords", run_with({"--kv-cache-memory-bytes", "much"}), 1, {"'much'", "GiB"}},
        Wrong{"MemoryNegative", run_with({"--kv-cache-memory-bytes", "-5"}), 1, {"'-5'"}},
        Wrong{"NegativeTemperature", run_with({"--temperature", "-1"}), 1, {"temperature", "-1"}},
        Wrong{"TopPZero", run_with({"--top-p", "0"}), 1, {"top_p"}},
        Wrong{"ModelLenZero", run_with({"--max-model-len", "0"}), 1, {"--max-model-len is 0"}},
        Wrong{"IdNotInVocabulary",
              {"run", "--model", "model", "--ids", "1,32"},
              1,
              {"32", "0 to 31"}},
        Wrong{"IdNegative", {"run", "--model", "model", "--ids", "1,-2"}, 1, {"-2"}},
        Wrong{"IdsInWords", {"run", "--model", "model", "--ids", "1,two"}, 1, {"--ids is 'two'"}},
        Wrong{"IdsWithAHole", {"run", "--model", "model", "--ids", "1,,2"}, 1, {"'1,,2'"}},
        Wrong{"IdHuge", {"run", "--model", "model", "--ids", "1,4294967297"}, 1, {"4294967297"}},
        Wrong{"IdsEmpty", {"run", "--model", "model", "--ids", ""}, 1, {"no tokens"}},
        Wrong{"NoModelFolder",
              {"run", "--model", "nowhere", "--ids", "1"},
              1,
              {"nowhere", "config.json"}},
        Wrong{"NoModelInFolder",
              {"run", "--model", ".", "--ids", "1"},
              1,
              {"'.' has no config.json", "model.safetensors"}},
        Wrong{"TapeOfUnknownKind", run_with({"--tape", "t.json"}), 1, {"t.json", ".tape"}},
        Wrong{"TapeInNoFolder", run_with({"--tape", "nowhere/t.tape"}), 1, {"nowhere/t.tape"}},
        Wrong{"LogitsInNoFolder", run_with({"--logits", "nowhere/l.npy"}), 1, {"nowhere/l.npy"}},
        Wrong{"NoTape", {"inspect", "none.tape"}, 1, {"none.tape"}},
        Wrong{"NotATape", {"inspect", "latin1.txt"}, 1, {"latin1.txt", "not a tape"}},
        Wrong{"TapeMissing", {"inspect"}, 2, {"TAPE"}},
        Wrong{"NoLesson", {"lesson", "99"}, 1, {"99"}},
        Wrong{"LessonInWords", {"lesson", "first"}, 2, {"first"}},
        Wrong{"LengthZero", {"arithmetic", "--lengths", "0,8"}, 1, {"--lengths is 0"}},
        Wrong{"LengthsInWords", {"arithmetic", "--lengths", "8,x"}, 2, {"--lengths is 'x'"}},
        Wrong{"LengthsWithAHole", {"arithmetic", "--lengths", "8,,16"}, 2, {"'8,,16'"}},
        Wrong{"LengthHuge",
              {"arithmetic", "--lengths", "99999999999999999999"},
              2,
              {"--lengths is 99999999999999999999", "64 bits"}},
        Wrong{"LaneWithoutAStep", {"inspect", "latin1.txt", "--lane", "x"}, 2, {"--lane", "--at"}},
        Wrong{"LessonHuge", {"lesson", "99999999999"}, 2, {"99999999999"}},
        Wrong{"OddHeads", {"arithmetic", "--heads", "3"}, 1, {"3", "2"}},
        Wrong{"HugeModel", {"arithmetic", "--hidden", "100000", "--ffn", "100000"}, 1, {"million"}},
        Wrong{"LongSweep", {"arithmetic", "--lengths", "60000"}, 1, {"TFLOP"}},
        Wrong{"FootprintOfNothing", {"footprint"}, 2, {"--layers", "--config"}},
        Wrong{"FootprintOfAFolder", {"footprint", "--config", "model"}, 1, {"model", "folder"}},
        Wrong{"SequencesOfNoLength",
              {"footprint", "--config", "model/config.json", "--sequences", "3"},
              2,
              {"--sequences", "--tokens"}},
        Wrong{"DeviceWithoutMemory",
              {"footprint", "--config", "model/config.json", "--total", "0"},
              1,
              {"--total is 0"}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(BadInputOfManyKinds, APromptThatIsNoTextIsRefused) {
    const TestFolder folder;
    write_model(folder / "model", with_text());
    write_file(folder / "latin1.txt", "caf\xe9");
    const ProgramResult result =
        run_kvtape({"run", "--model", "model", "--prompt-file", "latin1.txt"}, folder.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.error_lines(), 1);
    EXPECT_THAT(result.err, HasSubstr("--prompt-file latin1.txt"));
    EXPECT_THAT(result.err, HasSubstr("UTF-8 at byte 3"));
}

TEST(BadInputOfManyKinds, APromptFileThatCannotBeReadIsNamed) {
    const TestFolder folder;
    write_model(folder / "model", with_text());
    for (const char* name : {"none.txt", "model"}) {  // absent; a folder
        const ProgramResult result =
            run_kvtape({"run", "--model", "model", "--prompt-file", name}, folder.path());
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        EXPECT_THAT(result.err, HasSubstr(std::string("--prompt-file ") + name));
        EXPECT_THAT(result.err, HasSubstr("give a text file"));
    }
}

TEST(BadInputOfManyKinds, AnEmptyPromptIsRefused) {
    const TestFolder folder;
    write_model(folder / "model", with_text());
    write_file(folder / "empty.txt", "");
    for (const std::vector<std::string>& prompt :
         {std::vector<std::string>{"--prompt", ""}, {"--prompt-file", "empty.txt"}}) {
        std::vector<std::string> arguments{"run", "--model", "model"};
        arguments.insert(arguments.end(), prompt.begin(), prompt.end());
        const ProgramResult result = run_kvtape(arguments, folder.path());
        EXPECT_EQ(result.exit_code, 1) << result.err;
        EXPECT_THAT(result.err, HasSubstr("no tokens"));
    }
}

TEST(BadInputOfManyKinds, HelpIsOnStandardOutputWithExamples) {
    const TestFolder folder;
    for (const char* verb :
         {"demo", "run", "compare", "arithmetic", "inspect", "footprint", "lesson"}) {
        const ProgramResult result = run_kvtape({verb, "--help"}, folder.path());
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(result.err, "");
        EXPECT_THAT(result.out, HasSubstr("Examples:"));
        EXPECT_THAT(result.out, HasSubstr(std::string("  kvtape ") + verb));
    }
    EXPECT_EQ(run_kvtape({"--help"}, folder.path()).exit_code, 0);
}

// A model file that is missing, empty, cut or of the wrong kind is named.
TEST(BadInputOfManyKinds, DamagedModelFilesAreNamed) {
    const TestFolder folder;
    const auto line_for = [&](const std::function<void()>& damage) {
        write_model(folder / "model", with_text());
        damage();
        const ProgramResult result =
            run_kvtape({"run", "--model", "model", "--ids", "1"}, folder.path());
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_EQ(result.out, "");
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        return result.err;
    };
    const std::string config = folder / "model/config.json";
    const std::string weights = folder / "model/model.safetensors";
    const std::string tokenizer = folder / "model/tokenizer.json";
    for (const std::string& file : {config, weights}) {
        EXPECT_THAT(line_for([&] { std::filesystem::remove(file); }),
                    HasSubstr("has no " + file.substr(file.rfind('/') + 1)));
    }
    for (const std::string& file : {config, weights, tokenizer}) {
        const std::string name = file.substr(file.rfind('/') + 1);
        EXPECT_THAT(line_for([&] { write_file(file, ""); }), HasSubstr(name));
        EXPECT_THAT(line_for([&] { write_file(file, "{\"a\""); }), HasSubstr(name));
        EXPECT_THAT(line_for([&] { write_file(file, std::string(100, '\xff')); }), HasSubstr(name));
    }
    EXPECT_THAT(line_for([&] {
                    const std::string whole = read_file(weights);
                    write_file(weights, whole.substr(0, whole.size() - 1));
                }),
                HasSubstr("model.safetensors"));
}

}  // namespace
}  // namespace kvtape
