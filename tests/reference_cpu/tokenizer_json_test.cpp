// tokenizer.json files that must be refused: other kinds of tokenizer, and damaged or hostile ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/byte_tokenizer.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const json& file) {
    return error_text([&] { parse_tokenizer(file); });
}

// The tokenizer with one place changed, such as "/model/type".
json with(const std::string& place, const json& value) {
    json file = byte_tokenizer_json({{"a", "b"}}, {"<end>"});
    file[json::json_pointer(place)] = value;
    return file;
}

TEST(TokenizerJson, AcceptsWhatChangesNothing) {
    const std::pair<const char*, json> harmless[] = {
        {"/version", "1.0"},
        {"/truncation", nullptr},
        {"/model/dropout", nullptr},
        {"/model/dropout", 0.0},
        {"/model/unk_token", "<end>"},  // every byte has a piece
        {"/model/continuing_subword_prefix", ""},
        {"/model/end_of_word_suffix", nullptr},
        {"/model/byte_fallback", false},
        {"/model/type", nullptr},  // old files
        {"/post_processor", {{"type", "ByteLevel"}, {"trim_offsets", false}}},
        {"/added_tokens", nullptr},
    };
    for (const auto& [place, value] : harmless) {
        EXPECT_EQ(parse_tokenizer(with(place, value)).encode("ab").at(0), 256) << place;
    }
}

TEST(TokenizerJson, RefusesByNameWhatWouldChangeTheIds) {
    const struct {
        const char* place;
        json value;
        const char* named;
    } unsupported[] = {
        {"/normalizer", {{"type", "NFC"}}, "normalizer"},
        {"/truncation", {{"max_length", 8}}, "truncation"},
        {"/padding", {{"pad_id", 0}}, "padding"},
        {"/model/type", "Unigram", "'Unigram'"},
        {"/model/type", "WordPiece", "'WordPiece'"},
        {"/model/dropout", 0.1, "dropout"},
        {"/model/byte_fallback", true, "byte_fallback"},
        {"/model/continuing_subword_prefix", "##", "continuing_subword_prefix"},
        {"/model/end_of_word_suffix", "</w>", "end_of_word_suffix"},
        {"/decoder", nullptr, "decoder"},
        {"/decoder/type", "Metaspace", "'Metaspace'"},
        {"/pre_tokenizer", nullptr, "pre_tokenizer"},
        {"/pre_tokenizer/type", "Metaspace", "'Metaspace'"},
        {"/pre_tokenizer", {{"type", "Digits"}}, "ByteLevel"},
        {"/pre_tokenizer",
         {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}},
         "'Digits'"},
        {"/pre_tokenizer",
         {{"type", "Split"},
          {"pattern", {{"Regex", "a"}}},
          {"behavior", "Removed"},
          {"invert", false}},
         "'Removed'"},
        {"/pre_tokenizer",
         {{"type", "Split"},
          {"pattern", {{"Regex", "a"}}},
          {"behavior", "Isolated"},
          {"invert", true}},
         "invert"},
        {"/post_processor", {{"type", "BertProcessing"}}, "'BertProcessing'"},
        {"/added_tokens/0/single_word", true, "single_word"},
        {"/added_tokens/0/lstrip", true, "lstrip"},
        {"/added_tokens/0/rstrip", true, "rstrip"},
    };
    for (const auto& entry : unsupported) {
        EXPECT_THAT(refusal(with(entry.place, entry.value)),
                    AllOf(HasSubstr("tokenizer.json: "), HasSubstr(entry.named)));
    }
}

TEST(TokenizerJson, BothSpellingsOfMerges) {
    EXPECT_EQ(parse_tokenizer(with("/model/merges", {"a b"})).encode("ab").at(0), 256);
    for (const json& merge :
         {json("ab"), json("a b c"), json(" b"), json("a "), json(3), json::array({"a"}),
          json::array({"a", 3}), json::array({"a", "b", "c"}), json::array({"a", ""})}) {
        EXPECT_THAT(refusal(with("/model/merges", json::array({merge}))), HasSubstr("merge"))
            << merge;
    }
}

TEST(TokenizerJson, MergesAreOfPiecesInTheVocabulary) {
    EXPECT_THAT(refusal(with("/model/merges", {"a c"})), HasSubstr("'ac'"));
    EXPECT_THAT(refusal(with("/model/merges", {"ab ab"})), HasSubstr("'abab'"));
    EXPECT_THAT(refusal(with("/model/merges", {"a b", "a b"})), HasSubstr("twice"));
    EXPECT_THAT(refusal(with("/model/merges", {"a 漢"})), HasSubstr("漢"));
    EXPECT_THAT(refusal(with("/model/merges", json::object())), HasSubstr("merges"));
}

TEST(TokenizerJson, IdsAreDenseAndUnique) {
    for (const json& id : {json(-1), json(258), json(1.0), json("97"), json(nullptr), json(1e30),
                           json(std::int64_t{1} << 31)}) {
        EXPECT_THAT(refusal(with("/model/vocab/ab", id)), HasSubstr("ab")) << id;
        EXPECT_THAT(refusal(with("/added_tokens/0/id", id)), HasSubstr("id")) << id;
    }
    EXPECT_THAT(refusal(with("/model/vocab/ab", 97)), AllOf(HasSubstr("97"), HasSubstr("'ab'")));
    EXPECT_THAT(refusal(with("/added_tokens/0/id", 97)), HasSubstr("97"));
    EXPECT_THAT(refusal(with("/added_tokens/0/content", "")), HasSubstr("content"));
    json twice = with("/added_tokens/1", {{"id", 258}, {"content", "<end>"}});
    EXPECT_THAT(refusal(twice), HasSubstr("'<end>'"));
}

TEST(TokenizerJson, PatternsMustBeRegularExpressions) {
    const auto pattern = [](const json& value) {
        return with(
            "/pre_tokenizer",
            {{"type", "Sequence"},
             {"pretokenizers",
              {{{"type", "Split"}, {"pattern", value}, {"behavior", "Isolated"}, {"invert", false}},
               {{"type", "ByteLevel"}, {"use_regex", false}}}}});
    };
    EXPECT_THAT(refusal(pattern({{"Regex", "(a"}})), HasSubstr("'(a'"));
    EXPECT_THAT(refusal(pattern({{"Regex", "[z-a]"}})), HasSubstr("'[z-a]'"));
    EXPECT_THAT(refusal(pattern({{"Regex", ""}})), HasSubstr("pattern"));
    EXPECT_THAT(refusal(pattern({{"String", ""}})), HasSubstr("pattern"));
    EXPECT_THAT(refusal(pattern({{"Regex", std::string(5000, 'a')}})), HasSubstr("5000"));
    EXPECT_THAT(refusal(pattern("a")), HasSubstr("pattern"));
    EXPECT_THAT(refusal(pattern(json::object())), HasSubstr("pattern.String is missing"));
}

TEST(TokenizerJson, EveryTruncationIsRefused) {
    const std::string whole = byte_tokenizer_json({{"a", "b"}}, {"<end>"}).dump();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        error_text([&] { Tokenizer::parse(whole.substr(0, length), "tokenizer.json"); });
    }
}

TEST(TokenizerJson, MissingPartsAreNamed) {
    for (const char* place : {"/model", "/model/vocab", "/model/merges", "/decoder",
                              "/pre_tokenizer", "/added_tokens/0/id", "/added_tokens/0/content"}) {
        json file = byte_tokenizer_json({{"a", "b"}}, {"<end>"});
        const json::json_pointer pointer(place);
        file[pointer.parent_pointer()].erase(pointer.back());
        EXPECT_THAT(refusal(file), HasSubstr(pointer.back() + " is missing"));
    }
    const std::string path = testing::TempDir() + "no_such_tokenizer.json";
    EXPECT_THAT(error_text([&] { Tokenizer::load(path); }), HasSubstr(path));
}

}  // namespace
}  // namespace kvtape
