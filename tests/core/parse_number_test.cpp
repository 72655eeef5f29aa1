// Numbers as people type them: what is one, and what is said of the rest.
#include "core/parse_number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "core/number_text.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

template <class Number>
std::string refusal(const std::string& text) {
    return error_text([&] { parse_number<Number>("--n", text); });
}

TEST(ParseNumber, ReadsDecimalNumbers) {
    EXPECT_EQ(parse_number<std::int64_t>("--n", "010"), 10);
    EXPECT_EQ(parse_number<std::int64_t>("--n", "-9223372036854775808"), INT64_MIN);
    EXPECT_EQ(parse_number<std::uint64_t>("--n", "18446744073709551615"), UINT64_MAX);
    EXPECT_EQ(parse_number<double>("--n", "2.5e-1"), 0.25);
}

TEST(ParseNumber, NeverClamps) {
    EXPECT_EQ(refusal<std::int64_t>("9223372036854775808"),
              "--n is 9223372036854775808, which does not fit into 64 bits");
    EXPECT_THAT(refusal<std::int32_t>("2147483648"), HasSubstr("32 bits"));
    EXPECT_THAT(refusal<float>("1e39"), HasSubstr("32 bits"));
}

TEST(ParseNumber, RefusesWhatIsNotAllOfANumber) {
    for (const char* text : {"", " 1", "1 ", "+1", "0x10", "1.5", "1,5", "one", "1e3"}) {
        EXPECT_EQ(refusal<std::int64_t>(text),
                  "--n is '" + std::string(text) + "', which is not a whole number");
    }
    EXPECT_THAT(refusal<std::uint64_t>("-1"), HasSubstr("a whole number of 0 or more"));
    EXPECT_THAT(refusal<double>("2x"), HasSubstr("'2x', which is not a number"));
}

TEST(ParseNumber, ReadsListsWithoutHoles) {
    EXPECT_EQ(parse_numbers<int>("--n", " 1, 02 ,3"), (std::vector<int>{1, 2, 3}));
    for (const char* text : {"", ",", "1,", ",1", "1,,2", "1, ,2"}) {
        EXPECT_THAT(error_text([&] { parse_numbers<int>("--n", text); }),
                    HasSubstr("--n is '" + std::string(text) + "'"));
    }
}

TEST(NumberText, CountsInTheRightNumber) {
    EXPECT_EQ(counted(0, "token"), "0 tokens");
    EXPECT_EQ(counted(1, "token"), "1 token");
    EXPECT_EQ(counted(2980, "token"), "2980 tokens");
}

}  // namespace
}  // namespace kvtape
