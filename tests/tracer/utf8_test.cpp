#include "tracer/utf8.h"

#include <gtest/gtest.h>

namespace kvtape {
namespace {

// The code point as UTF-8, for surrogates and beyond too, which are not valid.
std::string encoded(std::uint32_t code) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointAndNothingElse) {
    for (std::uint32_t code = 0; code < 0x120000; ++code) {
        const bool valid = code < 0xd800 || (code > 0xdfff && code < 0x110000);
        const std::string text = encoded(code);
        ASSERT_EQ(is_utf8(text), valid) << code;
        ASSERT_EQ(printable(text) == text, valid) << code;
        if (text.size() > 1) {
            ASSERT_FALSE(is_utf8(text.substr(0, text.size() - 1))) << code;
            ASSERT_FALSE(is_utf8(text.substr(1))) << code;
        }
    }
}

TEST(Utf8, OverlongFormsAreNot) {
    EXPECT_FALSE(is_utf8("\xc0\x80"));
    EXPECT_FALSE(is_utf8("\xc1\xbf"));
    EXPECT_FALSE(is_utf8("\xe0\x9f\xbf"));
    EXPECT_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
}

TEST(Utf8, PrintableReplacesEachPartThatIsNoText) {
    EXPECT_EQ(printable("a\xe7\x99"), "a\xef\xbf\xbd");              // a cut character is one
    EXPECT_EQ(printable("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd");    // two that begin none
    EXPECT_EQ(printable("\xe7(\xba"), "\xef\xbf\xbd(\xef\xbf\xbd");  // what lies between stays
    EXPECT_TRUE(is_utf8(printable("\x80\xc3\xf4\x90\x80\x80zz\xed\xa0\x80")));
}

}  // namespace
}  // namespace kvtape
