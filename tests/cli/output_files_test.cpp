// The files that a run leaves: nothing is overwritten unasked, nothing is left half written, and
// what was written before a failure stays readable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "support/program.h"
#include "support/tiny_model_files.h"
#include "tracer/tape_reader.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

class OutputFiles : public testing::Test {
  protected:
    OutputFiles() { write_model(folder_ / "model"); }

    ProgramResult run(std::vector<std::string> more) {
        more.insert(more.begin(),
                    {"run", "--model", "model", "--ids", "1,2,3", "--max-tokens", "20"});
        return run_kvtape(more, folder_.path());
    }
    std::int64_t readable_steps(const std::string& name) {
        TapeReader reader(folder_ / name);
        Step step;
        while (reader.next(step) == TapeReader::Next::step) {
        }
        return reader.steps_read();
    }

    TestFolder folder_;
};

TEST_F(OutputFiles, ATapeIsNotOverwrittenUnlessAskedFor) {
    write_file(folder_ / "t.tape", "precious");
    const ProgramResult refused = run({"--tape", "t.tape"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_THAT(refused.err, HasSubstr("t.tape"));
    EXPECT_EQ(read_file(folder_ / "t.tape"), "precious");
    EXPECT_EQ(run({"--tape", "t.tape", "--overwrite"}).exit_code, 0);
    EXPECT_EQ(readable_steps("t.tape"), 20);
}

TEST_F(OutputFiles, LogitsAreNotOverwrittenUnlessAskedFor) {
    write_file(folder_ / "l.npy", "precious");
    const ProgramResult refused = run({"--logits", "l.npy"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("l.npy"));
    EXPECT_EQ(read_file(folder_ / "l.npy"), "precious");
    EXPECT_EQ(run({"--logits", "l.npy", "--overwrite"}).exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "l.npy").size(), 128u + 22 * 32 * 4);
}

TEST_F(OutputFiles, AnOlderTapeIsNotLostToARunThatIsRefused) {
    ASSERT_EQ(run({"--tape", "t.tape"}).exit_code, 0);
    const std::string older = read_file(folder_ / "t.tape");
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"--max-model-len", "10"}, {"--logits", "nowhere/l.npy"}}) {
        std::vector<std::string> arguments = wrong;
        arguments.insert(arguments.end(), {"--tape", "t.tape", "--overwrite"});
        EXPECT_EQ(run(arguments).exit_code, 1);
        EXPECT_EQ(read_file(folder_ / "t.tape"), older);
    }
}

TEST_F(OutputFiles, TheUnfinishedLogitsNeverReplaceAnything) {
    write_file(folder_ / "l.npy.part", "precious");
    const ProgramResult refused = run({"--logits", "l.npy", "--overwrite"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_THAT(refused.err, HasSubstr("l.npy.part"));
    EXPECT_EQ(read_file(folder_ / "l.npy.part"), "precious");
}

// A file that is opened while standard output is closed would get its number, and the text.
TEST_F(OutputFiles, WhatIsMeantForTheUserIsNeverWrittenIntoTheTape) {
    for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"}) {
        const std::string command = std::string(KVTAPE_BINARY_DIR) +
                                    "/cli/kvtape run --model model --ids 1,2,3 --max-tokens 20 "
                                    "--tape t.tape --overwrite " +
                                    closed;
        run_program("/bin/sh", {"-c", command}, folder_.path());
        const ProgramResult inspected = run_kvtape({"inspect", "t.tape"}, folder_.path());
        EXPECT_EQ(inspected.exit_code, 0) << closed << ": " << inspected.err;
    }
}

TEST_F(OutputFiles, LogitsNeverReplaceADevice) {
    std::filesystem::create_symlink("/dev/full", folder_ / "l.npy");
    const ProgramResult refused = run({"--logits", "l.npy", "--overwrite"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("not an ordinary file"));
}

TEST_F(OutputFiles, AFullDiskEndsTheRunWithOneLine) {
    std::filesystem::create_symlink("/dev/full", folder_ / "t.tape");
    const ProgramResult full = run({"--tape", "t.tape"});
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_EQ(full.error_lines(), 1);
    EXPECT_THAT(full.err, HasSubstr("t.tape"));
    EXPECT_THAT(full.err, HasSubstr("No space left"));
}

// A file size limit stands in for a disk that fills up in the middle of the run.
TEST_F(OutputFiles, WhatWasWrittenBeforeTheDiskWasFullStaysReadable) {
    ASSERT_EQ(run({"--tape", "whole.tape"}).exit_code, 0);
    const auto whole = std::filesystem::file_size(folder_ / "whole.tape");

    struct rlimit old_limit {};
    getrlimit(RLIMIT_FSIZE, &old_limit);
    const struct rlimit limit = {whole / 2, old_limit.rlim_max};
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);  // writes fail instead; inherited
    setrlimit(RLIMIT_FSIZE, &limit);
    const ProgramResult cut = run({"--tape", "cut.tape", "--json"});
    setrlimit(RLIMIT_FSIZE, &old_limit);
    std::signal(SIGXFSZ, old_handler);

    EXPECT_EQ(cut.exit_code, 1);
    EXPECT_EQ(cut.out, "");
    EXPECT_EQ(cut.error_lines(), 1);
    EXPECT_THAT(cut.err, HasSubstr("cut.tape"));
    const std::int64_t steps = readable_steps("cut.tape");
    EXPECT_GE(steps, 5);
    EXPECT_LT(steps, 20);
    // Not a byte of the steps before was lost or changed.
    const std::string kept = read_file(folder_ / "cut.tape");
    EXPECT_GE(kept.size(), whole / 2 - 1);
    const ProgramResult inspected = run_kvtape({"inspect", "cut.tape"}, folder_.path());
    EXPECT_EQ(inspected.exit_code, 4);
    EXPECT_THAT(inspected.err, HasSubstr(std::to_string(steps) + " complete steps"));
}

TEST_F(OutputFiles, ALogitsFileThatDoesNotFitLeavesNothing) {
    struct rlimit old_limit {};
    getrlimit(RLIMIT_FSIZE, &old_limit);
    const struct rlimit limit = {1000, old_limit.rlim_max};
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    const ProgramResult cut = run({"--logits", "l.npy", "--json"});
    setrlimit(RLIMIT_FSIZE, &old_limit);
    std::signal(SIGXFSZ, old_handler);

    EXPECT_EQ(cut.exit_code, 1);
    EXPECT_EQ(cut.error_lines(), 1);
    EXPECT_THAT(cut.err, HasSubstr("l.npy"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "l.npy"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "l.npy.part"));
}

TEST_F(OutputFiles, AFolderWithoutPermissionIsNamed) {
    if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    std::filesystem::create_directory(folder_ / "locked");
    chmod((folder_ / "locked").c_str(), 0500);
    for (const std::vector<std::string>& option :
         {std::vector<std::string>{"--tape", "locked/t.tape"}, {"--logits", "locked/l.npy"}}) {
        const ProgramResult refused = run(option);
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_EQ(refused.error_lines(), 1);
        EXPECT_THAT(refused.err, HasSubstr("Permission denied"));
    }
}

// PC-TV-13: a run refused before its first step.
TEST_F(OutputFiles, TheTapeOfARefusedRunSaysWhy) {
    const ProgramResult refused =
        run({"--tape", "t.tape", "--logits", "l.npy", "--max-model-len", "10"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_EQ(refused.error_lines(), 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "l.npy"));
    const ProgramResult inspected = run_kvtape({"inspect", "t.tape"}, folder_.path());
    EXPECT_EQ(inspected.exit_code, 0);
    EXPECT_THAT(inspected.out, HasSubstr("no steps"));
    EXPECT_THAT(inspected.out, HasSubstr("the limit is 10"));
}

// PC-BD-05: the tape of the same command is the same, whatever the number of threads.
TEST_F(OutputFiles, TapesOfTheSameCommandDifferInTimesOnly) {
    ASSERT_EQ(run({"--tape", "a.jsonl", "--threads", "1", "--cache", "paged"}).exit_code, 0);
    ASSERT_EQ(run({"--tape", "b.jsonl", "--threads", "3", "--cache", "paged"}).exit_code, 0);
    std::istringstream a(read_file(folder_ / "a.jsonl")), b(read_file(folder_ / "b.jsonl"));
    std::string line_a, line_b;
    int lines = 0;
    while (std::getline(a, line_a) && std::getline(b, line_b)) {
        auto json_a = nlohmann::json::parse(line_a), json_b = nlohmann::json::parse(line_b);
        json_a.erase("wall_ns");
        json_b.erase("wall_ns");
        EXPECT_EQ(json_a, json_b);
        ++lines;
    }
    EXPECT_EQ(lines, 22);  // header, 20 steps, end
}

}  // namespace
}  // namespace kvtape
