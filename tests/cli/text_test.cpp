// Pieces that put text on the screen: streams of half characters, columns, tables, numbers,
// progress.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>

#include <thread>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/run_report.h"
#include "cli/table.h"
#include "cli/text_columns.h"
#include "cli/text_stream.h"
#include "cli/units.h"
#include "core/check.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

constexpr const char* unknown = "\xef\xbf\xbd";  // U+FFFD

// PC-TV-02: the two tokens are halves of U+767A.
TEST(TextStream, HoldsHalfACharacterBack) {
    TextStream stream;
    EXPECT_EQ(stream.add("a\xe7\x99"), "a");
    EXPECT_EQ(stream.add("\xba"), "\xe7\x99\xba");
    EXPECT_EQ(stream.add("\x5c"), "\\");
    EXPECT_EQ(stream.add(std::string_view("\0", 1)), std::string(1, '\0'));
    EXPECT_EQ(stream.finish(), "");
}

TEST(TextStream, EveryCutOfEveryLengthOfCharacterGivesTheWholeText) {
    const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";  // 1, 2, 3, 4 and 1 bytes
    for (std::size_t first = 0; first <= text.size(); ++first) {
        for (std::size_t second = first; second <= text.size(); ++second) {
            TextStream stream;
            std::string shown = stream.add(text.substr(0, first));
            shown += stream.add(text.substr(first, second - first));
            shown += stream.add(text.substr(second));
            EXPECT_EQ(shown + stream.finish(), text);
        }
    }
}

TEST(TextStream, BytesThatAreNoTextAreReplaced) {
    TextStream stream;
    EXPECT_EQ(stream.add("x\xffy"), std::string("x") + unknown + "y");
    EXPECT_EQ(stream.add("\xe7"), "");
    EXPECT_EQ(stream.add("Q"), std::string(unknown) + "Q");
    EXPECT_EQ(stream.add("\xf0\x9f"), "");
    EXPECT_EQ(stream.finish(), unknown);
    EXPECT_EQ(stream.finish(), "");
    EXPECT_EQ(stream.add("\xa9\xa9\xa9\xa9"), std::string(unknown) + unknown + unknown + unknown);
}

TEST(WrappedText, BreaksAtSpaces) {
    EXPECT_EQ(wrapped("the red lamp is on", 8, "|"), "|the red\n|lamp is\n|on\n");
    EXPECT_EQ(wrapped("12345678 9", 8, ""), "12345678\n9\n");
    EXPECT_EQ(wrapped("abcdefghij", 4, ""), "abcd\nefgh\nij\n");
    EXPECT_EQ(wrapped("a\n\nb", 4, ""), "a\n\nb\n");
    EXPECT_EQ(wrapped("", 4, ""), "");
    EXPECT_EQ(wrapped("\xc3\xa9\xc3\xa9\xc3\xa9 \xc3\xa9", 3, ""),
              "\xc3\xa9\xc3\xa9\xc3\xa9\n\xc3\xa9\n");
}

TEST(TextColumns, RowsArePrintedWhenAllColumnsHaveThem) {
    std::string out;
    TextColumns columns(2, 5, false, [&](std::string_view text) { out += text; });
    columns.add(0, "one two");
    columns.show();
    EXPECT_EQ(out, "");
    columns.add(1, "one two");
    columns.show();
    EXPECT_EQ(out, "  one    one\n");
    columns.add(0, " three");
    columns.finish();
    EXPECT_EQ(out, "  one    one\n  two    two\n  three\n");
}

TEST(TextColumns, OnATerminalTheOpenRowIsDrawnInPlace) {
    std::string out;
    TextColumns columns(2, 5, true, [&](std::string_view text) { out += text; });
    columns.add(0, "ab");
    columns.show();
    EXPECT_EQ(out, "\r\x1b[K  ab");
    columns.finish();
    EXPECT_EQ(out, "\r\x1b[K  ab\r\x1b[K  ab\n\r\x1b[K");
}

TEST(Table, AlignsLabelsLeftAndNumbersRight) {
    Table table;
    table.add_row({"", "none", "paged"});
    table.add_row({"rows", "1,234", "5"});
    table.add_line();
    table.add_row({"x"});
    EXPECT_EQ(table.text(1), "        none  paged\n rows  1,234      5\n\n x\n");
}

TEST(Units, NumbersAreWrittenForPeople) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(1000), "1,000");
    EXPECT_EQ(with_commas(-1234567), "-1,234,567");
    EXPECT_EQ(with_commas(-123), "-123");
    EXPECT_EQ(bytes_in_units(1), "1 byte");
    EXPECT_EQ(bytes_in_units(999), "999 bytes");
    EXPECT_EQ(bytes_in_units(2'000'000), "2,000,000 bytes = 2.000 MB = 1.907 MiB");
    EXPECT_EQ(duration(1.5), "1.50 s");
    EXPECT_EQ(duration(0.0125), "12.50 ms");
    EXPECT_EQ(duration(2e-6), "2.0 us");
}

TEST(Units, BytesAreParsedWithTheirUnit) {
    EXPECT_EQ(parse_bytes("--x", "4096"), 4096);
    EXPECT_EQ(parse_bytes("--x", "9007199254740993"), 9007199254740993);  // 2^53 + 1: no double
    EXPECT_EQ(parse_bytes("--x", "64MiB"), 64 << 20);
    EXPECT_EQ(parse_bytes("--x", "1.5 GB"), 1'500'000'000);
    EXPECT_EQ(parse_bytes("--x", "2kB"), 2000);
    for (const char* wrong : {"", "x", "-1", "5 apples", "1e30", "9223372036854775808", "nan",
                              "inf", "1 GiBs", "0x10"}) {
        EXPECT_THROW(parse_bytes("--x", wrong), Error) << wrong;
    }
}

TEST(Units, ProductsThatDoNotFitAreRefused) {
    EXPECT_EQ(checked_product(std::int64_t{1} << 31, std::int64_t{1} << 31, "x"),
              std::int64_t{1} << 62);
    EXPECT_THROW(checked_product(std::int64_t{1} << 32, std::int64_t{1} << 31, "x"), Error);
    EXPECT_EQ(ceil_div(0, 4), 0);
    EXPECT_EQ(ceil_div(8, 4), 2);
    EXPECT_EQ(ceil_div(9, 4), 3);
}

TEST(Escaped, LineBreaksAndControlCharactersAreVisible) {
    EXPECT_EQ(escaped("a\nb\tc\x1b[2J\xff"), std::string("a\\nb\\tc\\x1b[2J") + unknown);
}

TEST(Latencies, AreSummarisedWithoutTheFirstToken) {
    const LatencySummary odd = summarize({3, 1, 2});
    EXPECT_EQ(odd.median, 2);
    EXPECT_EQ(odd.last, 2);
    EXPECT_EQ(odd.least, 1);
    EXPECT_EQ(odd.most, 3);
    EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
    EXPECT_EQ(summarize({}).median, 0);
}

// What a program in a terminal would have written.
std::string read_terminal(int file) {
    std::string text;
    char bytes[256];
    for (ssize_t count; (count = read(file, bytes, sizeof bytes)) > 0;) text.append(bytes, count);
    return text;
}

class ProgressOnATerminal : public testing::Test {
  protected:
    ProgressOnATerminal() {
        EXPECT_EQ(openpty(&screen_, &terminal_, nullptr, nullptr, nullptr), 0);
        fcntl(screen_, F_SETFL, O_NONBLOCK);
    }
    ~ProgressOnATerminal() override {
        close(screen_);
        close(terminal_);
    }
    int screen_ = -1, terminal_ = -1;
};

TEST_F(ProgressOnATerminal, AppearsAfterTheDelayAndIsErased) {
    using std::chrono::milliseconds;
    Progress progress("loading", terminal_, milliseconds(20));
    progress.update("tokens", 1500, 2000);
    std::string text;
    for (int i = 0; i < 500 && text.find("tokens") == std::string::npos; ++i) {
        std::this_thread::sleep_for(milliseconds(10));
        text += read_terminal(screen_);
    }
    progress.stop();
    text += read_terminal(screen_);
    EXPECT_THAT(text, HasSubstr("\rtokens: 1,500 of 2,000 (0 s)\x1b[K"));
    EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
}

TEST_F(ProgressOnATerminal, IsSilentWhenTheWorkIsShort) {
    { Progress progress("loading", terminal_, std::chrono::hours(1)); }
    EXPECT_EQ(read_terminal(screen_), "");
}

TEST(ProgressElsewhere, IsSilent) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    {
        Progress progress("loading", pipe_ends[1], std::chrono::milliseconds(0));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    close(pipe_ends[1]);
    EXPECT_EQ(read_terminal(pipe_ends[0]), "");
    close(pipe_ends[0]);
}

}  // namespace
}  // namespace kvtape
