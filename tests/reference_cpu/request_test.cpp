// What is admitted and what is refused: with all numbers, before anything is computed, and never by
// cutting something off.
#include "reference_cpu/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/check.h"

namespace kvtape {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Request request(std::int64_t prompt, std::optional<std::int64_t> max_tokens = {}) {
    Request r;
    r.prompt.assign(static_cast<std::size_t>(prompt), 1);
    r.max_tokens = max_tokens;
    return r;
}

std::string refusal(const Request& r, const LengthLimit& limit) {
    try {
        admit(r, limit);
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
        return error.what();
    }
    return "admitted";
}

// PC-TR-01
TEST(Request, NamesBothNumbersWhenThePromptIsTooLong) {
    EXPECT_THAT(refusal(request(20), {16}),
                AllOf(HasSubstr("20 tokens"), HasSubstr("16"), HasSubstr("max_model_len")));
}

// PC-TR-02: prompt and new tokens share the limit, so a prompt that fills it leaves no room for
// one.
TEST(Request, TakesTheConfiguredLimitExactly) {
    EXPECT_EQ(admit(request(15), {16}), 1);
    EXPECT_EQ(admit(request(15, 1), {16}), 1);
    EXPECT_THAT(refusal(request(16), {16}),
                AllOf(HasSubstr("16 tokens"), EndsWith("shorten the prompt by 1")));
    EXPECT_THAT(refusal(request(17), {16}), AllOf(HasSubstr("17 tokens"), EndsWith("by 2")));
    EXPECT_EQ(admit(request(1), {16}), 15);
}

// PC-TR-04
TEST(Request, NamesEveryNumberWhenTooManyTokensAreAskedFor) {
    EXPECT_THAT(
        refusal(request(8, 2045), {2048}),
        AllOf(HasSubstr("2048"), HasSubstr("8 tokens"), HasSubstr("2045"), HasSubstr("2053"),
              HasSubstr("over by 5"), HasSubstr("largest max_tokens is 2040")));
    EXPECT_EQ(admit(request(8, 2040), {2048}), 2040);
    EXPECT_THAT(refusal(request(8, 2041), {2048}), HasSubstr("over by 1"));
}

TEST(Request, SurvivesAbsurdNumbers) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_THAT(refusal(request(8, huge), {2048}),
                AllOf(HasSubstr("9223372036854775807"), HasSubstr("9223372036854775815"),
                      HasSubstr("2040")));
    EXPECT_EQ(admit(request(8), {huge}), huge - 8);
    EXPECT_THAT(refusal(request(3), {0}), HasSubstr("3 tokens"));
}

TEST(Request, RefusesWhatIsNotARequest) {
    EXPECT_THAT(refusal(request(0), {16}), HasSubstr("no tokens"));
    EXPECT_THAT(refusal(request(3, 0), {16}), HasSubstr("max_tokens is 0"));
    EXPECT_THAT(refusal(request(3, -4), {16}), HasSubstr("max_tokens is -4"));
    Request chunked = request(3);
    chunked.prefill_chunk = -1;
    EXPECT_THAT(refusal(chunked, {16}), HasSubstr("-1"));
    chunked.prefill_chunk = 1000;  // more than the prompt: one pass
    EXPECT_EQ(admit(chunked, {16}), 13);
    Request hot = request(3);
    hot.sampling.temperature = -1;
    EXPECT_THAT(refusal(hot, {16}), HasSubstr("temperature"));
}

// PC-TR-07: memory sets a limit too, and the message says so in bytes.
TEST(Request, IsLimitedByTheMemoryOfTheCache) {
    const LengthLimit by_memory = limit_by_memory({1'000'000}, 4096, 64);
    EXPECT_EQ(by_memory.tokens, 64);
    EXPECT_THAT(by_memory.reason, AllOf(HasSubstr("4096 bytes"), HasSubstr("64 bytes per token")));
    EXPECT_EQ(admit(request(10), by_memory), 54);
    EXPECT_THAT(refusal(request(64), by_memory), HasSubstr("4096 bytes"));

    const LengthLimit by_model = limit_by_memory({16}, 4096, 64);
    EXPECT_EQ(by_model.tokens, 16);
    EXPECT_EQ(by_model.reason, "max_model_len");

    EXPECT_EQ(limit_by_memory({100}, 127, 64).tokens, 1);  // rounds down
    EXPECT_EQ(limit_by_memory({64}, 4096, 64).reason, "max_model_len");
    EXPECT_THROW(limit_by_memory({100}, 63, 64), Error);
    EXPECT_THROW(limit_by_memory({100}, -64, 64), Error);
}

}  // namespace
}  // namespace kvtape
