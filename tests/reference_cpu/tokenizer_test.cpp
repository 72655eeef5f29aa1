// Text to ids and back with tokenizers small enough to work out by hand. That real ones agree with
// the library they come from is tokenizer_golden_test.cpp.
#include "reference_cpu/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/byte_tokenizer.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The words that `pre_tokenizer` makes of a text. Every stretch of the text, with and without a
// space before it, is a piece, and a word that is a piece is taken whole: so each id is one word.
std::vector<std::string> words(const json& pre_tokenizer, const std::string& text) {
    json file = byte_tokenizer_json();
    file["pre_tokenizer"] = pre_tokenizer;
    file["model"]["ignore_merges"] = true;
    json& vocab = file["model"]["vocab"];
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
        for (std::size_t length = 1; begin + length <= text.size(); ++length) {
            const std::string stretch = text.substr(begin, length);
            for (const std::string& piece : {stretch, " " + stretch}) {
                const std::size_t next_id = vocab.size();
                vocab.emplace(bytes_to_byte_level(piece), next_id);  // unless it is there
            }
        }
    }
    const Tokenizer tokenizer = parse_tokenizer(file);
    std::vector<std::string> result;
    for (const std::int32_t id : tokenizer.encode(text)) {
        result.push_back(tokenizer.bytes_of(id));
    }
    return result;
}

json byte_level(bool use_regex, bool add_prefix_space) {
    return {
        {"type", "ByteLevel"}, {"use_regex", use_regex}, {"add_prefix_space", add_prefix_space}};
}

json sequence(std::vector<json> parts) {
    return {{"type", "Sequence"}, {"pretokenizers", std::move(parts)}};
}

json split(const json& pattern) {
    return {{"type", "Split"}, {"pattern", pattern}, {"behavior", "Isolated"}, {"invert", false}};
}

TEST(Tokenizer, MergesAndGivesBackTheSameBytes) {
    const Tokenizer tokenizer = parse_tokenizer(byte_tokenizer_json({{"a", "b"}, {"ab", " "}}));
    EXPECT_EQ(tokenizer.vocab_size(), 258);
    EXPECT_THAT(tokenizer.encode("ab abc"), ElementsAre(257, 256, 'c'));
    EXPECT_EQ(tokenizer.bytes_of(257), "ab ");
    EXPECT_THAT(tokenizer.encode(""), IsEmpty());
    EXPECT_EQ(tokenizer.decode({}), "");
    for (const std::string& text :
         std::vector<std::string>{"Mia has 4821.", "é漢😀", std::string("a\0b", 3), "\r\n\t "}) {
        EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
    }
}

TEST(Tokenizer, AnIdMayBeHalfACharacter) {
    const Tokenizer tokenizer = parse_tokenizer(byte_tokenizer_json());
    EXPECT_THAT(tokenizer.encode("é"), ElementsAre(0xC3, 0xA9));
    EXPECT_EQ(tokenizer.bytes_of(0xC3), "\xC3");
    EXPECT_EQ(tokenizer.bytes_of(0), std::string(1, '\0'));
}

TEST(Tokenizer, AnIdOutsideTheVocabularyIsAnError) {  // PC-EQ-04
    const Tokenizer tokenizer = parse_tokenizer(byte_tokenizer_json());
    for (const std::int32_t id : {-1, 256, 2147483647}) {
        EXPECT_THAT(error_text([&] { tokenizer.bytes_of(id); }), HasSubstr(std::to_string(id)));
        const std::vector<std::int32_t> ids = {65, id};
        EXPECT_THAT(error_text([&] { tokenizer.decode(ids); }), HasSubstr(std::to_string(id)));
    }
}

TEST(Tokenizer, InvalidUtf8IsNamedWithItsOffset) {
    const Tokenizer tokenizer = parse_tokenizer(byte_tokenizer_json({}, {"<end>"}));
    const std::pair<std::string, int> invalid[] = {
        {"\xff", 0},             // no such byte
        {"ab\xc3", 2},           // cut off
        {"ab\xc3(", 2},          // no continuation
        {"é\x80", 2},            // continuation of nothing
        {"a\xc0\x80", 1},        // overlong
        {"\xed\xa0\x80", 0},     // surrogate
        {"\xf4\x90\x80\x80", 0}  // beyond U+10FFFF
    };
    for (const auto& [text, offset] : invalid) {
        EXPECT_THAT(error_text([&, text = text] { tokenizer.encode(text); }),
                    HasSubstr("not valid UTF-8 at byte " + std::to_string(offset)));
    }
}

TEST(Tokenizer, Gpt2PatternCutsWords) {
    EXPECT_THAT(words(byte_level(true, false), "I don't see 42 cats!?  \n x"),
                ElementsAre("I", " don", "'t", " see", " 42", " cats", "!?", "  \n", " x"));
    EXPECT_THAT(words(byte_level(true, false), "naïve 漢字 ½"),
                ElementsAre("naïve", " 漢字", " ½"));
    EXPECT_THAT(words(byte_level(true, true), "a b"), ElementsAre(" a", " b"));
    EXPECT_THAT(words(byte_level(true, true), " a b"), ElementsAre(" a", " b"));
}

TEST(Tokenizer, StepsOfASequenceFollowEachOther) {
    const json digits = {{"type", "Digits"}, {"individual_digits", true}};
    EXPECT_THAT(words(sequence({digits, byte_level(true, false)}), "a 48b"),
                ElementsAre("a", " ", "4", "8", "b"));
    const json runs = {{"type", "Digits"}, {"individual_digits", false}};
    EXPECT_THAT(words(sequence({runs, byte_level(false, false)}), "a 48b"),
                ElementsAre("a ", "48", "b"));
    // Every word gets its space, not only the first.
    EXPECT_THAT(words(sequence({digits, byte_level(true, true)}), "a4"), ElementsAre(" a", " 4"));

    const json one_digit = split({{"Regex", R"( ?\p{L}+| ?\p{N}|\s+)"}});
    EXPECT_THAT(words(sequence({one_digit, byte_level(false, false)}), "Mia 48, x"),
                ElementsAre("Mia", " 4", "8", ",", " x"));
    const json literal = split({{"String", "a."}});
    EXPECT_THAT(words(sequence({literal, byte_level(false, false)}), "a.abca."),
                ElementsAre("a.", "abc", "a."));
}

TEST(Tokenizer, AddedTokensAreCutOutFirst) {
    const Tokenizer tokenizer =
        parse_tokenizer(byte_tokenizer_json({{"<", "a"}}, {"<a>", "<a><b>", "né"}));
    EXPECT_THAT(tokenizer.encode("<a>"), ElementsAre(257));
    EXPECT_THAT(tokenizer.encode("x<a><b>y"), ElementsAre('x', 258, 'y'));  // the longest
    EXPECT_THAT(tokenizer.encode("<a><a"), ElementsAre(257, 256));
    EXPECT_THAT(tokenizer.encode("néné"), ElementsAre(259, 259));
    EXPECT_EQ(tokenizer.bytes_of(259), "né");  // its text, although it looks like byte-level
    EXPECT_EQ(tokenizer.vocab_size(), 260);
}

TEST(Tokenizer, NormalizedAddedTokensComeInASecondRound) {
    json file = byte_tokenizer_json({}, {"ab", "bc"});
    file["added_tokens"][0]["normalized"] = true;
    EXPECT_THAT(parse_tokenizer(file).encode("abc"), ElementsAre('a', 257));
    file["added_tokens"][0]["normalized"] = false;
    EXPECT_THAT(parse_tokenizer(file).encode("abc"), ElementsAre(256, 'c'));
}

TEST(Tokenizer, AnAddedTokenMayBeInTheVocabularyToo) {
    json file = byte_tokenizer_json({{"a", "b"}});
    file["added_tokens"] = {{{"id", 256}, {"content", "ab"}, {"special", true}}};
    EXPECT_EQ(parse_tokenizer(file).vocab_size(), 257);
    file["added_tokens"][0]["id"] = 255;
    EXPECT_THAT(error_text([&] { parse_tokenizer(file); }), HasSubstr("'ab'"));
    // "é" is how the vocabulary writes the byte E9.
    file["added_tokens"][0] = {{"id", 0xE9}, {"content", "é"}, {"special", true}};
    EXPECT_THAT(error_text([&] { parse_tokenizer(file); }), HasSubstr("other bytes"));
}

TEST(Tokenizer, TheTemplatePutsBosBeforeTheText) {
    json file = byte_tokenizer_json({}, {"<s>"});
    const json bos = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
    const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
    json processor = {{"type", "TemplateProcessing"},
                      {"single", {bos, text}},
                      {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {256}}}}}}};
    file["post_processor"] = processor;
    EXPECT_THAT(parse_tokenizer(file).encode("a"), ElementsAre(256, 'a'));
    EXPECT_THAT(parse_tokenizer(file).encode(""), ElementsAre(256));
    file["post_processor"] = {{"type", "Sequence"},
                              {"processors", {{{"type", "ByteLevel"}}, processor}}};
    EXPECT_THAT(parse_tokenizer(file).encode("a"), ElementsAre(256, 'a'));

    processor["single"] = {text, bos};
    file["post_processor"] = processor;
    EXPECT_THAT(error_text([&] { parse_tokenizer(file); }), HasSubstr("after the text"));
    processor["single"] = json::array({bos});
    file["post_processor"] = processor;
    EXPECT_THAT(error_text([&] { parse_tokenizer(file); }), HasSubstr("without the text"));
    processor["single"] = {bos, text};
    processor["special_tokens"]["<s>"]["ids"] = {257};
    file["post_processor"] = processor;
    EXPECT_THAT(error_text([&] { parse_tokenizer(file); }), HasSubstr("257"));
}

TEST(Tokenizer, APatternThatTakesForeverIsAnError) {
    json file = byte_tokenizer_json();
    file["pre_tokenizer"] = sequence({split({{"Regex", "(?:a+)+b"}}), byte_level(false, false)});
    const Tokenizer tokenizer = parse_tokenizer(file);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("aab")), "aab");
    EXPECT_THAT(error_text([&] { tokenizer.encode(std::string(64, 'a')); }), HasSubstr("(?:a+)+b"));
}

TEST(Tokenizer, ALongTextOfOneWordIsFast) {
    const Tokenizer tokenizer = parse_tokenizer(byte_tokenizer_json({{"a", "a"}}));
    EXPECT_EQ(tokenizer.encode(std::string(200'000, 'a')).size(), 100'000u);
}

}  // namespace
}  // namespace kvtape
