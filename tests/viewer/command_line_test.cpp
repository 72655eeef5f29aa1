// `kvtape view` as it is typed, where it opens no window: options that are wrong or do not belong
// together, tapes that are damaged, places that cannot be written to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "support/program.h"
#include "support/tape_on_show.h"
#include "viewer/offscreen.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CommandLineTest : public testing::Test {
  protected:
    void SetUp() override {
        try {
            Offscreen(64, 64, 1);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
        write_tape(tape_, folder_ / "t.tape");
        write_file(folder_ / "out", "");  // run_program makes these two
        write_file(folder_ / "err", "");
    }

    ProgramResult view(const std::vector<std::string>& arguments) {
        return run_program(KVTAPE_BINARY_DIR "/viewer/kvtape-view", arguments, folder_.path());
    }

    // Refused in one line, with nothing written.
    void expect_refused(const std::vector<std::string>& arguments, int exit_code,
                        const std::string& part) {
        const auto before = std::distance(fs::directory_iterator(folder_.path()), {});
        const ProgramResult result = view(arguments);
        EXPECT_EQ(result.exit_code, exit_code) << result.err;
        EXPECT_EQ(result.error_lines(), 1) << result.err;
        EXPECT_THAT(result.err, HasSubstr(part));
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), before) << part;
    }

    SyntheticTape tape_;
    TestFolder folder_;
};

TEST_F(CommandLineTest, OptionsOfAnotherModeAreRefused) {
    expect_refused({"t.tape", "--from", "1"}, 2, "--from requires --record");
    expect_refused({"t.tape", "--fps", "9", "--screenshot", "a.png"}, 2, "--fps requires --record");
    expect_refused({"t.tape", "--record", "a/", "--step", "1"}, 2, "--record excludes --step");
    expect_refused({"t.tape", "--record", "a/", "--within", "1"}, 2, "--within");
    expect_refused({"t.tape", "--screenshot", "a.png", "--speed", "1"}, 2, "--speed");
    expect_refused({"t.tape", "--screenshot", "a.png", "--record", "a/"}, 2, "not both");
}

TEST_F(CommandLineTest, NumbersAreReadAsTheyAreTyped) {
    expect_refused({"t.tape", "--screenshot", "a.png", "--step", ""}, 2, "--step is empty");
    expect_refused({"t.tape", "--screenshot", "a.png", "--panel", ""}, 2, "--panel is empty");
    expect_refused({"t.tape", "--screenshot", "a.png", "--step", "0x1"}, 2, "--step is '0x1'");
    expect_refused({"t.tape", "--screenshot", "a.png", "--step", "9223372036854775808"}, 2,
                   "does not fit into 64 bits");
    expect_refused({"t.tape", "--screenshot", "a.png", "--step", "-1"}, 1, "--step is -1, but");
    expect_refused({"t.tape", "--screenshot", "a.png", "--step", "010"}, 1, "--step is 10, but");
    expect_refused({"t.tape", "--scale", "nan"}, 1, "--scale is nan; use a number from 0.5 to 8");
}

TEST_F(CommandLineTest, PicturesGoWhereTheyCan) {
    write_file(folder_ / "old.png", "old");
    fs::create_symlink("/dev/full", folder_ / "full.png");
    expect_refused({"t.tape", "--screenshot", "a.jpg"}, 1, "use a name in .png");
    expect_refused({"t.tape", "--screenshot", "full.png"}, 1, "No space left on device");
    expect_refused({"t.tape", "--screenshot", "/dev/full"}, 1, "No space left on device");
    expect_refused({"t.tape", "--screenshot", "old.png", "--step", "9"}, 1, "--step");
    EXPECT_EQ(read_file(folder_ / "old.png"), "old");
    EXPECT_EQ(view({"t.tape", "--screenshot", "old.png"}).exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "old.png").substr(1, 3), "PNG");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 5);
}

TEST_F(CommandLineTest, FilmsGoWhereTheyCan) {
    if (std::system("command -v ffmpeg >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs ffmpeg";
    const auto record = [](const std::string& path) {
        return std::vector<std::string>{"t.tape", "--record", path, "--size", "320x200"};
    };
    expect_refused(record("no/a.gif"), 1, "cannot write no/a.gif: No such file or directory");
    // One of them fails while frames are being sent, the other at the end.
    for (const char* film : {"full.gif", "full.mp4"}) {
        fs::create_symlink("/dev/full", folder_ / film);
        expect_refused(record(film), 1, "No space left on device");
    }
    write_file(folder_ / "a:b.gif.log", "mine");
    EXPECT_EQ(view(record("a:b.gif")).exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "a:b.gif").substr(0, 4), "GIF8");
    EXPECT_EQ(read_file(folder_ / "a:b.gif.log"), "mine");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 7);
}

// A program that ends before it has read what it is sent.
TEST_F(CommandLineTest, AFilmMakerThatEndsEarlyIsNamed) {
    fs::create_directory(folder_ / "bin");
    write_file(folder_ / "bin/ffmpeg", "#!/bin/sh\necho the codec is missing\nexit 1\n");
    fs::permissions(folder_ / "bin/ffmpeg", fs::perms::owner_all);
    const std::string path = "PATH=" + folder_ / "bin" + ":" + std::getenv("PATH");
    const ProgramResult result =
        run_program("/usr/bin/env",
                    {path, KVTAPE_BINARY_DIR "/viewer/kvtape-view", "t.tape", "--record", "a.gif"},
                    folder_.path());
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, "kvtape: ffmpeg could not make a.gif: the codec is missing\n");
    EXPECT_FALSE(fs::exists(folder_ / "a.gif"));
}

// PC-TV-04
TEST_F(CommandLineTest, APictureOfACutTapeSaysSo) {
    const std::string whole = read_file(folder_ / "t.tape");
    write_file(folder_ / "cut.tape", whole.substr(0, whole.size() * 2 / 3));
    const ProgramResult result = view({"cut.tape", "--screenshot", "a.png"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.error_lines(), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("kvtape: note: tape 'cut.tape' is cut at byte " +
                                      std::to_string(whole.size() * 2 / 3) + ", within record"));
    EXPECT_EQ(view({"t.tape", "--screenshot", "a.png"}).err, "");
}

// PC-TV-13
TEST_F(CommandLineTest, ThereIsNoPictureOfNoSteps) {
    write_file(folder_ / "empty.tape", "");
    expect_refused({"empty.tape", "--screenshot", "a.png"}, 1,
                   "nothing to draw: the tape has no steps: tape 'empty.tape' is empty");
    expect_refused({"empty.tape", "--record", "a/"}, 1, "nothing to draw");
}

}  // namespace
}  // namespace kvtape
