// Files that are there only when they are complete.
#include "viewer/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/check.h"
#include "support/program.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class NewFileTest : public testing::Test {
  protected:
    std::ptrdiff_t files() const {
        return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
    }

    // The message; "" if it goes well.
    static std::string error_of(const std::string& path) {
        try {
            write_new_file(path, "new");
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    }

    TestFolder folder_;
};

TEST_F(NewFileTest, ReplacesAFile) {
    write_file(folder_ / "a", "old and longer");
    write_new_file(folder_ / "a", "new");
    EXPECT_EQ(read_file(folder_ / "a"), "new");
    EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, WhatIsNotFinishedLeavesTheOldOne) {
    write_file(folder_ / "a", "old");
    {
        const NewFile file(folder_ / "a");
        EXPECT_NE(file.unfinished(), folder_ / "a");
        write_file(file.unfinished(), "half");
    }
    EXPECT_EQ(read_file(folder_ / "a"), "old");
    EXPECT_EQ(files(), 1);
}

TEST_F(NewFileTest, WritesToWhatALinkLeadsTo) {
    fs::create_directory(folder_ / "there");
    write_file(folder_ / "there/a", "old");
    fs::create_symlink("there/a", folder_ / "link");
    write_new_file(folder_ / "link", "new");
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read_file(folder_ / "there/a"), "new");
}

TEST_F(NewFileTest, SaysWhyItCannotBeWritten) {
    EXPECT_THAT(error_of("/dev/full"), HasSubstr("No space left on device; free some space"));
    EXPECT_THAT(error_of(folder_ / "no/a"), HasSubstr("No such file or directory; choose"));
    EXPECT_THAT(error_of(folder_.path().string()), HasSubstr("Is a directory"));
    fs::create_symlink("/dev/full", folder_ / "link");
    EXPECT_THAT(error_of(folder_ / "link"), HasSubstr("No space left"));
    EXPECT_EQ(error_of("/dev/null"), "");
    EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace kvtape
