#include "reference_cpu/pre_tokenizer.h"

#include <cstdint>
#include <utility>

#include "core/check.h"
#include "reference_cpu/json_input.h"

namespace kvtape {
namespace {

using Words = std::vector<icu::UnicodeString>;

// ICU counts a match's work in units of 10,000 steps, so the limit is the same on every machine.
constexpr std::int32_t match_time_limit = 1000;
constexpr std::size_t longest_pattern_bytes = 4096;

icu::UnicodeString from_utf8(std::string_view text) {
    return icu::UnicodeString::fromUTF8(
        icu::StringPiece(text.data(), static_cast<std::int32_t>(text.size())));
}

void append_if_not_empty(Words& words, const icu::UnicodeString& text, std::int32_t begin,
                         std::int32_t end) {
    if (begin < end) {
        words.emplace_back(text, begin, end - begin);
    }
}

Words split_at_matches(const Words& texts, const icu::RegexPattern& pattern) {
    UErrorCode status = U_ZERO_ERROR;
    const std::unique_ptr<icu::RegexMatcher> matcher(pattern.matcher(status));
    if (U_SUCCESS(status)) {
        matcher->setTimeLimit(match_time_limit, status);
    }
    Words words;
    for (const icu::UnicodeString& text : texts) {
        std::int32_t end_of_last = 0;
        if (U_SUCCESS(status)) {
            matcher->reset(text);
        }
        while (U_SUCCESS(status) && matcher->find(status)) {
            const std::int32_t begin = matcher->start(status);
            const std::int32_t end = matcher->end(status);
            append_if_not_empty(words, text, end_of_last, begin);
            append_if_not_empty(words, text, begin, end);
            end_of_last = end;
        }
        append_if_not_empty(words, text, end_of_last, text.length());
    }
    if (U_FAILURE(status)) {
        std::string written;
        pattern.pattern().toUTF8String(written);
        fail("tokenizer: the pattern ", in_quotes(written),
             " cannot cut this text: ", u_errorName(status));
    }
    return words;
}

}  // namespace

void PreTokenizer::add_pattern(std::string_view pattern, std::uint32_t flags,
                               const std::string& where) {
    if (pattern.empty() || pattern.size() > longest_pattern_bytes) {
        fail(where, ": a pattern is ", pattern.size(), " bytes long; expected 1 to ",
             longest_pattern_bytes);
    }
    UErrorCode status = U_ZERO_ERROR;
    UParseError place = {};
    std::unique_ptr<icu::RegexPattern> compiled(
        icu::RegexPattern::compile(from_utf8(pattern), flags, place, status));
    if (U_FAILURE(status)) {
        fail(where, ": pattern ", in_quotes(pattern),
             " is not a regular expression that ICU knows: ", u_errorName(status), " at character ",
             place.offset);
    }
    steps_.push_back(std::move(compiled));
}

void PreTokenizer::add_regex(std::string_view pattern, const std::string& where) {
    add_pattern(pattern, UREGEX_UNIX_LINES | UREGEX_MULTILINE, where);
}

void PreTokenizer::add_string(std::string_view text, const std::string& where) {
    add_pattern(text, UREGEX_LITERAL, where);
}

void PreTokenizer::add_prefix_space() {
    steps_.push_back(nullptr);
}

std::vector<std::string> PreTokenizer::split(std::string_view text) const {
    Words words = {from_utf8(text)};
    for (const auto& pattern : steps_) {
        if (pattern) {
            words = split_at_matches(words, *pattern);
            continue;
        }
        for (icu::UnicodeString& word : words) {
            if (!word.startsWith(u" ", 1)) {
                word.insert(0, u' ');
            }
        }
    }
    std::vector<std::string> result;
    for (const icu::UnicodeString& word : words) {
        word.toUTF8String(result.emplace_back());
    }
    return result;
}

}  // namespace kvtape
