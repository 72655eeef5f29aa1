// `kvtape demo` on a tiny model, and `kvtape lesson`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"
#include "support/tiny_model_files.h"
#include "tracer/tape_reader.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class Demo : public testing::Test {
  protected:
    Demo() {
        TinyModelFiles files = with_text();
        files.max_model_len = 256;
        // Every pick is then a letter that can be printed.
        files.change = [](ModelWeights& weights) {
            for (std::size_t id = 0; id < static_cast<std::size_t>(byte_vocab); ++id) {
                if (id >= 'a' && id <= 'z') continue;
                for (std::size_t i = 0; i < 16; ++i) weights.head[id * 16 + i] = 0;
            }
        };
        write_model(folder_ / "model", files);
        write_file(folder_ / "model/demo_prompt.txt", "Mia has 4821.\n");
    }
    ProgramResult demo(std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"demo", "--model", "model", "--max-tokens", "40"});
        return run_kvtape(more, folder_.path());
    }
    TestFolder folder_;
};

TEST_F(Demo, ShowsPromptTextsCostsProofAndTape) {
    const ProgramResult result = demo();
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    for (const char* words :
         {"  | Mia has 4821.\n", "no cache", "contiguous cache", "paged cache", "FLOP: projections",
          "equal bits: 120 rows of logits", "every bit equal", "With a cache the first token took",
          "demo.tape", "./kvtape lesson 1"}) {
        EXPECT_THAT(result.out, HasSubstr(words));
    }
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_EQ(run_kvtape({"inspect", "demo.tape", "--verify"}, folder_.path()).exit_code, 0);
    // For the viewer, the numbers of the rows are on it.
    TapeReader reader(folder_ / "demo.tape");
    Step step;
    ASSERT_EQ(reader.next(step), TapeReader::Next::step);
    EXPECT_FALSE(step.rows.empty());
}

// What pages are for can be seen: neighbours in the text lie apart in the pool.
TEST_F(Demo, ScattersTheBlocksOfThePagedCache) {
    ASSERT_EQ(demo().exit_code, 0);
    TapeReader reader(folder_ / "demo.tape");
    std::vector<std::int64_t> blocks;
    for (Step step; reader.next(step) == TapeReader::Next::step;) {
        for (const PoolEvent& event : step.pool) blocks.push_back(event.block);
    }
    ASSERT_GE(blocks.size(), 4u);
    int apart = 0;
    for (std::size_t i = 1; i < blocks.size(); ++i) {
        apart += std::abs(blocks[i] - blocks[i - 1]) > 1 ? 1 : 0;
    }
    EXPECT_GE(apart, 2);
}

TEST_F(Demo, SaysNothingBeforeItKnowsThatItCanBegin) {
    for (const char* tape : {"x.txt", "nowhere/x.tape"}) {
        const ProgramResult refused = demo({"--tape", tape});
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_EQ(refused.out, "");
        EXPECT_EQ(refused.error_lines(), 1);
    }
}

TEST_F(Demo, ReplacesItsOwnTapeAndNoOtherFile) {
    ASSERT_EQ(demo().exit_code, 0);
    EXPECT_EQ(demo().exit_code, 0);
    write_file(folder_ / "demo.tape", "precious");
    const ProgramResult refused = demo();
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_THAT(refused.err, HasSubstr("demo.tape"));
    EXPECT_EQ(read_file(folder_ / "demo.tape"), "precious");
    EXPECT_EQ(demo({"--tape", "other.tape"}).exit_code, 0);

    // Neither over a tape of something else.
    ASSERT_EQ(run_kvtape({"run", "--model", "model", "--prompt", "Mia has 4821.", "--max-tokens",
                          "2", "--tape", "demo.tape", "--overwrite"},
                         folder_.path())
                  .exit_code,
              0);
    const std::string tape = read_file(folder_ / "demo.tape");
    EXPECT_EQ(demo().exit_code, 1);
    EXPECT_EQ(read_file(folder_ / "demo.tape"), tape);
}

TEST_F(Demo, JsonIsThatOfCompare) {
    const auto json = demo({"--json"}).json();
    EXPECT_EQ(json["prompt_tokens"], 13);
    EXPECT_EQ(json["equal_bits"], true);
    EXPECT_EQ(json["decoders"].size(), 3u);
}

TEST(LessonVerb, ListsTheLessonsOfTheSource) {
    const TestFolder folder;
    if (!std::filesystem::exists(KVTAPE_SOURCE_DIR "/lessons/01_one_token/README.md")) {
        GTEST_SKIP() << "there is no lesson 1 in the source";
    }
    const ProgramResult list = run_kvtape({"lesson"}, folder.path());
    EXPECT_EQ(list.exit_code, 0) << list.err;
    EXPECT_THAT(list.out, HasSubstr("  1  "));
}

// A terminal shows the text, but neither pictures nor the marks of quotes.
TEST(LessonVerb, ShowsTheTextAndWhatItsProgramPrints) {
    const TestFolder folder;
    if (!std::filesystem::exists(KVTAPE_BINARY_DIR "/lessons/lesson_01")) {
        GTEST_SKIP() << "the program of lesson 1 is not built";
    }
    const ProgramResult lesson = run_kvtape({"lesson", "1"}, folder.path());
    EXPECT_EQ(lesson.exit_code, 0) << lesson.err;
    EXPECT_THAT(lesson.out, HasSubstr("# Lesson 1"));
    EXPECT_THAT(lesson.out, HasSubstr("project_qkv(layer);"));
    EXPECT_THAT(lesson.out, HasSubstr("the rows that one token left in the cache"));
    EXPECT_THAT(lesson.out, testing::Not(HasSubstr("![")));
    EXPECT_THAT(lesson.out, testing::Not(HasSubstr("<!--")));
}

}  // namespace
}  // namespace kvtape
