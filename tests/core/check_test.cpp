#include "core/check.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

namespace kvtape {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

template <class Exception, class Action>
std::string message_of(Action action) {
    try {
        action();
    } catch (const Exception& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(Check, PrintsTheExpressionAndBothValues) {
    const std::int64_t rows = 2;
    const std::string message =
        message_of<ContractViolation>([&] { KVTAPE_CHECK(rows, ==, 3 + 1); });
    EXPECT_THAT(message, EndsWith("expected rows == 3 + 1, got 2 and 4"));
    EXPECT_THAT(message, HasSubstr("check_test.cpp:"));
}

TEST(Check, PrintsBytesAsNumbers) {
    const std::uint8_t byte = 65;
    EXPECT_THAT(message_of<ContractViolation>([&] { KVTAPE_CHECK(byte, ==, byte + 1); }),
                EndsWith("got 65 and 66"));
}

TEST(Check, EvaluatesEachSideOnce) {
    int evaluations = 0;
    KVTAPE_CHECK(++evaluations, ==, 1);
    EXPECT_EQ(evaluations, 1);
}

TEST(Check, NanFails) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(KVTAPE_CHECK(nan, <=, 1.0), ContractViolation);
}

TEST(Fail, JoinsItsParts) {
    EXPECT_EQ(message_of<Error>([] { fail("prompt has ", 65, " tokens, room for ", 64); }),
              "prompt has 65 tokens, room for 64");
}

}  // namespace
}  // namespace kvtape
