// Writing a tape when something is in the way, and what is left when the writer dies.
#include "tracer/tape_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "support/error_text.h"
#include "support/tape_files.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

using ::testing::HasSubstr;
using namespace test;

TEST(TapeWriter, AnExistingFileIsLeftAsItIs) {
    const Folder folder;
    write_file(folder / "a.tape", "precious");
    const std::string text =
        error_text([&] { TapeWriter writer(folder / "a.tape", small_header()); });
    EXPECT_THAT(text, HasSubstr("exists already"));
    EXPECT_THAT(text, HasSubstr("--overwrite"));
    EXPECT_EQ(file_bytes(folder / "a.tape"), "precious");

    TapeHeader bad = small_header();
    bad.lanes.clear();  // found to be wrong before the file is emptied
    EXPECT_THROW(TapeWriter(folder / "a.tape", bad, Overwrite::yes), Error);
    EXPECT_EQ(file_bytes(folder / "a.tape"), "precious");

    TapeWriter writer(folder / "a.tape", small_header(), Overwrite::yes);
    writer.write(small_step(0));
    writer.close();
    EXPECT_EQ(read_tape(folder / "a.tape").steps.size(), 1u);
}

// Also with --overwrite: the second of two writers is refused, and the first loses nothing.
TEST(TapeWriter, TwoDoNotWriteTheSameTape) {
    const Folder folder;
    const std::string path = folder / "a.tape";
    TapeWriter first(path, small_header());
    first.write(small_step(0));
    EXPECT_THAT(error_text([&] { TapeWriter second(path, small_header(), Overwrite::yes); }),
                HasSubstr("is being written by another program"));
    first.write(small_step(1));
    first.close();
    EXPECT_EQ(read_tape(path).steps.size(), 2u);
    TapeWriter(path, small_header(), Overwrite::yes).close();
    EXPECT_EQ(read_tape(path).steps.size(), 0u);
}

TEST(TapeWriter, PathsThatCannotBeWrittenSayWhatToDo) {
    const Folder folder;
    const auto refusal = [&](const std::string& path) {
        return error_text([&] { TapeWriter writer(path, small_header()); });
    };
    EXPECT_THAT(refusal(folder / "missing/a.tape"), HasSubstr("create its folder first"));
    EXPECT_THAT(refusal(folder / "a.txt"), HasSubstr("must end in .tape"));
    write_file(folder / "file", "");
    EXPECT_THAT(refusal(folder / "file/a.tape"), HasSubstr("create its folder first"));
    std::filesystem::create_directory(folder / "b.tape");
    EXPECT_THAT(refusal(folder / "b.tape"), HasSubstr("Is a directory"));
}

TEST(TapeWriter, AFolderWithoutPermissionSaysWhatToDo) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
    const Folder folder;
    std::filesystem::create_directory(folder / "locked");
    ::chmod((folder / "locked").c_str(), 0500);
    EXPECT_THAT(error_text([&] { TapeWriter writer(folder / "locked/a.tape", small_header()); }),
                HasSubstr("you may write to"));
}

TEST(TapeWriter, AFullDiskIsOneClearLine) {
    const Folder folder;
    std::filesystem::create_symlink("/dev/full", folder / "full.jsonl");
    const std::string text =
        error_text([&] { TapeWriter writer(folder / "full.jsonl", small_header()); });
    EXPECT_THAT(text, HasSubstr("No space left"));
    EXPECT_THAT(text, HasSubstr("free some space"));
}

// A limit on the size of the file stands in for a disk that fills up after some steps.
TEST(TapeWriter, ADiskThatFillsUpKeepsTheStepsBefore) {
    const Folder folder;
    const std::string path = folder / "a.tape";
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    const auto old_handler = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4000, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::int64_t written = 0;
    std::string text, again;
    {
        TapeWriter writer(path, small_header());
        text = error_text([&] {
            for (;;) writer.write(small_step(written)), ++written;
        });
        again = error_text([&] { writer.write(small_step(written)); });
        writer.close();
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, old_handler);

    EXPECT_GT(written, 2);
    EXPECT_THAT(text, HasSubstr("the " + std::to_string(written) + " steps before it are kept"));
    EXPECT_THAT(again, HasSubstr("earlier write failed"));
    const ReadOutcome outcome = read_tape(path);
    EXPECT_EQ(static_cast<std::int64_t>(outcome.steps.size()), written);
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(outcome.error->fault, TapeFault::truncated);
    EXPECT_EQ(outcome.error->byte, 4000);
}

TEST(TapeWriter, ATapeThatWasNotClosedIsIncomplete) {
    const Folder folder;
    {
        TapeWriter writer(folder / "a.jsonl", small_header());
        writer.write(small_step(0));
    }
    const ReadOutcome outcome = read_tape(folder / "a.jsonl");
    EXPECT_EQ(outcome.steps.size(), 1u);
    ASSERT_TRUE(outcome.error.has_value());
    EXPECT_EQ(outcome.error->fault, TapeFault::truncated);
    EXPECT_THAT(outcome.error->what(), HasSubstr("without an end record"));
}

// PC-TV-04
TEST(TapeWriter, KilledInTheMiddleItLeavesAReadableTape) {
    const Folder folder;
    for (const std::string name : {"a.jsonl", "a.tape"}) {
        const std::string path = folder / name;
        const pid_t child = ::fork();
        if (child == 0) {  // writes until it is killed
            TapeWriter writer(path, small_header(), Overwrite::yes);
            Step step = small_step(0, "\xe7\x8c\xab");
            for (std::int64_t i = 0;; ++i) {
                step.index = i;
                writer.write(step);
            }
        }
        struct stat file {};
        while (::stat(path.c_str(), &file) != 0 || file.st_size < 100000) ::usleep(1000);
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status));

        const ReadOutcome outcome = read_tape(path);
        EXPECT_GT(outcome.steps.size(), 100u);
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::truncated);
    }
}

// PC-TV-04: between events, inside an event, inside a character of three bytes.
TEST(TapeWriter, AHundredEventsSurviveACutAtThreePlaces) {
    const Folder folder;
    std::int64_t end_of_100 = 0;
    {
        TapeWriter writer(folder / "a.jsonl", small_header());
        Step step = small_step(0);
        for (step.index = 0; step.index < 100; ++step.index) writer.write(step);
        end_of_100 = writer.bytes_written();
        step.spans[0].tokens[0].bytes = "\xe7\x8c\xab";
        writer.write(step);
    }
    const std::string bytes = file_bytes(folder / "a.jsonl");
    const std::size_t character = bytes.find("\xe7\x8c\xab");
    ASSERT_NE(character, bytes.npos);
    for (const std::size_t cut : {static_cast<std::size_t>(end_of_100),
                                  static_cast<std::size_t>(end_of_100) + 20, character + 2}) {
        write_file(folder / "b.jsonl", bytes.substr(0, cut));
        const ReadOutcome outcome = read_tape(folder / "b.jsonl");
        EXPECT_EQ(outcome.steps.size(), 100u);
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::truncated);
        EXPECT_THAT(outcome.error->what(), HasSubstr("byte " + std::to_string(cut)));
    }
}

TEST(TapeWriter, AStepThatNoReaderWouldAcceptIsNotWritten) {
    const Folder folder;
    TapeWriter writer(folder / "a.tape", small_header());
    Step step = small_step(0);
    step.reads[0].layer = 2;
    EXPECT_THROW(writer.write(step), Error);
    EXPECT_THROW(writer.write(small_step(1)), ContractViolation);  // step 0 comes first
    writer.write(small_step(0));
    writer.close();
    EXPECT_EQ(read_tape(folder / "a.tape").steps.size(), 1u);
}

TEST(TapeWriter, ARecordThatIsTooLargeIsRefusedAndTheTapeGoesOn) {
    const Folder folder;
    TapeHeader header = small_header();
    header.max_model_len = 0;
    TapeWriter writer(folder / "a.jsonl", header);
    Step step = small_step(0);
    step.spans[0].tokens[0].bytes.assign(static_cast<std::size_t>(max_record_bytes), 'x');
    EXPECT_THAT(error_text([&] { writer.write(step); }), HasSubstr("at most"));
    writer.write(small_step(0));
    writer.close();
    EXPECT_TRUE(read_tape(folder / "a.jsonl").ended);
}

}  // namespace
}  // namespace kvtape
