// The merges, against an oracle that looks for the best pair of the whole word each time.
#include "reference_cpu/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/random.h"
#include "support/error_text.h"

namespace kvtape {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Pieces are numbered in order: the letters of `alphabet`, then the results of the merges.
struct Pieces {
    std::unordered_map<std::string, std::int32_t> ids;
    std::vector<Merge> merges;

    Pieces(const std::string& alphabet, const Pairs& pairs) {
        for (const char letter : alphabet) add(std::string(1, letter));
        for (const auto& [left, right] : pairs) add(left + right);
        for (const auto& [left, right] : pairs) {
            merges.push_back({ids.at(left), ids.at(right), ids.at(left + right)});
        }
    }
    void add(const std::string& piece) {
        ids.emplace(piece, static_cast<std::int32_t>(ids.size()));
    }
    Bpe bpe(bool whole_words_first = false) const { return {ids, merges, whole_words_first}; }
};

std::vector<std::int32_t> encode(const Bpe& bpe, const std::string& word) {
    std::vector<std::int32_t> ids;
    bpe.append_word(word, ids);
    return ids;
}

std::vector<std::int32_t> encode_slowly(const Pieces& pieces, const std::string& word) {
    std::vector<std::int32_t> ids;
    for (const char letter : word) ids.push_back(pieces.ids.at(std::string(1, letter)));
    for (bool merged = true; merged;) {
        merged = false;
        for (const Merge& merge : pieces.merges) {  // the first that occurs is the best
            for (std::size_t i = 0; i + 1 < ids.size() && !merged; ++i) {
                if (ids[i] == merge.left && ids[i + 1] == merge.right) {
                    ids[i] = merge.result;
                    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                    merged = true;
                }
            }
            if (merged) break;
        }
    }
    return ids;
}

TEST(Bpe, TheEarliestMergeWinsThenTheLeftmost) {
    const Pieces pieces("meda", {{"e", "d"}, {"m", "ed"}, {"d", "a"}, {"a", "a"}});
    const auto id = [&](const char* piece) { return pieces.ids.at(piece); };
    EXPECT_THAT(encode(pieces.bpe(), "meda"), ElementsAre(id("med"), id("a")));
    EXPECT_THAT(encode(pieces.bpe(), "da"), ElementsAre(id("da")));
    EXPECT_THAT(encode(pieces.bpe(), "aaa"), ElementsAre(id("aa"), id("a")));
    EXPECT_THAT(encode(pieces.bpe(), ""), ElementsAre());
}

TEST(Bpe, AgreesWithTheSlowOracle) {
    Random random(7);
    for (int round = 0; round < 200; ++round) {
        // Merge pieces that exist, at random, and shuffle, so that rank and length do not go
        // together.
        std::vector<std::string> known = {"a", "b", "c"};
        Pairs pairs;
        std::set<std::string> results(known.begin(), known.end());
        for (int i = 0; i < 12; ++i) {
            const std::string left = known[random.below(known.size())];
            const std::string right = known[random.below(known.size())];
            if (results.insert(left + right).second) {
                pairs.emplace_back(left, right);
                known.push_back(left + right);
            }
        }
        for (std::size_t i = pairs.size(); i-- > 1;) {
            std::swap(pairs[i], pairs[random.below(i + 1)]);
        }
        const Pieces pieces("abc", pairs);
        const Bpe bpe = pieces.bpe();
        for (int i = 0; i < 20; ++i) {
            std::string word;
            for (std::uint64_t letters = random.below(40); letters > 0; --letters) {
                word += "abc"[random.below(3)];
            }
            ASSERT_EQ(encode(bpe, word), encode_slowly(pieces, word)) << word;
        }
    }
}

// Quadratic work would take minutes here.
TEST(Bpe, ALongWordIsNotSlow) {
    const Pieces pieces("ab", {{"a", "b"}, {"ab", "ab"}, {"abab", "abab"}});
    std::string word;
    for (int i = 0; i < 200'000; ++i) word += "ab";
    const auto ids = encode(pieces.bpe(), word);
    EXPECT_EQ(ids, std::vector<std::int32_t>(50'000, pieces.ids.at("abababab")));
}

TEST(Bpe, WholeWordsFirstSkipsTheMerges) {
    Pieces pieces("abc", {{"b", "c"}});
    pieces.add("abc");
    const auto id = [&](const char* piece) { return pieces.ids.at(piece); };
    EXPECT_THAT(encode(pieces.bpe(false), "abc"), ElementsAre(id("a"), id("bc")));
    EXPECT_THAT(encode(pieces.bpe(true), "abc"), ElementsAre(id("abc")));
    EXPECT_THAT(encode(pieces.bpe(true), "aabc"), ElementsAre(id("a"), id("a"), id("bc")));
}

TEST(Bpe, AByteWithoutAPieceIsAnError) {
    const Pieces pieces("ab", {{"a", "b"}});
    EXPECT_THAT(error_text([&] { encode(pieces.bpe(), "abz"); }), HasSubstr("byte 122"));
}

}  // namespace
}  // namespace kvtape
