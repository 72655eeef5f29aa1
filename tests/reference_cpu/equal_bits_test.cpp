// The theorem of the project: however a text is cut into passes, whichever cache holds its rows,
// whoever shares the batch and however many threads work, every logit and every stored row has the
// same bits.
//
// The reference is NoCache given the whole text at once: no row is ever read in a later pass than
// it was computed in. All the others are compared with it byte by byte, rows like logits.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "support/transcript.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

using Caches = std::vector<std::unique_ptr<KvCache>>;

// No cache, contiguous, and paged with these block sizes; with room for `sequences` of `capacity`.
Caches caches(const ModelShape& shape, KvDtype dtype, std::int64_t capacity,
              std::initializer_list<std::int64_t> block_sizes = {1, 2, 3, 16},
              std::int64_t sequences = 1) {
    Caches result;
    result.push_back(std::make_unique<NoCache>(shape, dtype, capacity));
    result.push_back(std::make_unique<ContiguousCache>(shape, dtype, capacity));
    for (const std::int64_t block_size : block_sizes) {
        const std::int64_t blocks = sequences * ((capacity + block_size - 1) / block_size);
        result.push_back(std::make_unique<PagedCache>(shape, dtype, block_size, blocks));
    }
    return result;
}

std::string name_of(const KvCache& cache) {
    const Lane lane = cache.lane();
    return lane.cache + (lane.block_size > 0 ? " B=" + std::to_string(lane.block_size) : "");
}

Transcript whole_text_at_once(const Model<float>& model, KvDtype dtype,
                              const std::vector<std::int32_t>& tokens) {
    Team team(1);
    NoCache cache(model.config.shape, dtype, std::ssize(tokens));
    return feed_one(model, cache, team, tokens, {std::ssize(tokens)});
}

// Feeds the text to each cache in these passes and compares.
void expect_same_bits(const Model<float>& model, KvDtype dtype, Team& team,
                      const std::vector<std::int32_t>& tokens,
                      const std::vector<std::int64_t>& passes, const Transcript& expected) {
    for (const auto& cache : caches(model.config.shape, dtype, std::ssize(tokens))) {
        EXPECT_TRUE(same_bits(feed_one(model, *cache, team, tokens, passes), expected))
            << name_of(*cache) << ", " << name(dtype) << ", first pass of " << passes.front()
            << " of " << tokens.size() << " tokens in " << passes.size() << " passes, "
            << team.size() << " threads";
    }
}

class EqualBitsOfLayout : public testing::TestWithParam<HeadLayout> {};

INSTANTIATE_TEST_SUITE_P(Heads, EqualBitsOfLayout, testing::ValuesIn(head_layouts),
                         [](const auto& layout) { return layout.param.name; });

// Every split of a short text into prompt and decode steps, every chunk size, every dtype. A narrow
// dtype rounds the rows, so its logits differ from those of f32; but it rounds alike on every way.
TEST_P(EqualBitsOfLayout, ForEverySplitAndEveryChunkSizeInEveryDtype) {
    constexpr std::int64_t n = 9;
    const Model<float> model = tiny_model(GetParam().shape);
    const auto tokens = random_tokens(n, GetParam().shape.vocab, 2);
    Team team(1);
    for (const KvDtype dtype : all_kv_dtypes) {
        const Transcript expected = whole_text_at_once(model, dtype, tokens);
        for (std::int64_t prompt = 1; prompt <= n; ++prompt) {
            expect_same_bits(model, dtype, team, tokens, prompt_then_steps(n, prompt), expected);
        }
        for (std::int64_t chunk = 2; chunk < n; ++chunk) {
            expect_same_bits(model, dtype, team, tokens, chunks(n, chunk), expected);
        }
    }
}

TEST_P(EqualBitsOfLayout, ForEveryNumberOfThreads) {
    constexpr std::int64_t n = 17;
    const Model<float> model = tiny_model(GetParam().shape);
    const auto tokens = random_tokens(n, GetParam().shape.vocab, 3);
    for (const int threads : {2, 3, 8}) {
        Team team(threads);
        for (const KvDtype dtype : {KvDtype::f32, KvDtype::bf16}) {
            const Transcript expected = whole_text_at_once(model, dtype, tokens);
            expect_same_bits(model, dtype, team, tokens, chunks(n, 7), expected);
            expect_same_bits(model, dtype, team, tokens, prompt_then_steps(n, 14), expected);
        }
    }
}

// Lengths around the splits of the attention sum, where a new partial sum begins.
TEST_P(EqualBitsOfLayout, AcrossTheSplitsOfTheAttentionSum) {
    const Model<float> model = tiny_model(GetParam().shape, 160);
    Team team(2);
    for (const std::int64_t n :
         {attention_split - 1, attention_split, attention_split + 1, 2 * attention_split + 2}) {
        const auto tokens = random_tokens(n, GetParam().shape.vocab, 4);
        for (const KvDtype dtype : {KvDtype::f32, KvDtype::fp8_e4m3}) {
            const Transcript expected = whole_text_at_once(model, dtype, tokens);
            for (const auto& passes : {chunks(n, 50), prompt_then_steps(n, n - 4)}) {
                expect_same_bits(model, dtype, team, tokens, passes, expected);
            }
        }
    }
}

// PC-BD-01: one text among random companions, in batches of random members in random order.
TEST_P(EqualBitsOfLayout, WhoeverSharesTheBatch) {
    const ModelShape& shape = GetParam().shape;
    const Model<float> model = tiny_model(shape);
    Random random(5);
    Team team(2);
    for (const std::uint64_t companions : {1u, 3u, 7u}) {
        std::vector<Feed> feeds;
        std::int64_t longest = 1;
        for (std::uint64_t i = 0; i <= companions; ++i) {
            const auto n = static_cast<std::int64_t>(1 + random.below(20));
            const auto chunk = static_cast<std::int64_t>(1 + random.below(4));
            // Ids of sequences are names, not indices: they need not be small or in order.
            feeds.push_back({static_cast<SequenceId>(900 - 37 * i),
                             random_tokens(n, shape.vocab, 100 + i), chunks(n, chunk)});
            longest = std::max(longest, n);
        }
        for (const KvDtype dtype : {KvDtype::f32, KvDtype::f16}) {
            const auto sequences = static_cast<std::int64_t>(feeds.size());
            for (const auto& cache : caches(shape, dtype, longest, {1, 3, 16}, sequences)) {
                const auto transcripts = feed(model, *cache, team, feeds, &random);
                for (std::size_t i = 0; i < feeds.size(); ++i) {
                    EXPECT_TRUE(same_bits(transcripts[i],
                                          whole_text_at_once(model, dtype, feeds[i].tokens)))
                        << name_of(*cache) << ", " << name(dtype) << ", sequence " << i << " of "
                        << feeds.size();
                }
            }
        }
    }
}

// PC-BD-01, in its own words: the same prompt in batches of 1, 2, 4 and 8 and in chunks of 1, 2
// and 4.
TEST(EqualBits, OfOnePromptInBatchesOfOneToEight) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto prompt = random_tokens(11, tiny_llama.vocab, 6);
    const Transcript expected = whole_text_at_once(model, KvDtype::f32, prompt);
    Team team(2);
    for (const std::uint64_t batch : {1u, 2u, 4u, 8u}) {
        for (const std::int64_t chunk : {1, 2, 4}) {
            std::vector<Feed> feeds;
            for (std::uint64_t i = 0; i < batch; ++i) {
                const auto n = static_cast<std::int64_t>(5 + i);
                feeds.push_back({static_cast<SequenceId>(i), random_tokens(n, tiny_llama.vocab, i),
                                 chunks(n, 3)});
            }
            feeds[batch / 2] = {static_cast<SequenceId>(batch / 2), prompt, chunks(11, chunk)};
            for (const auto& cache : caches(tiny_llama, KvDtype::f32, 16, {2}, 8)) {
                EXPECT_TRUE(same_bits(feed(model, *cache, team, feeds)[batch / 2], expected))
                    << name_of(*cache) << ", batch of " << batch << ", chunks of " << chunk;
            }
        }
    }
}

// A prompt of length 1, and one that fills the model to its last position.
TEST(EqualBits, ForTheShortestAndTheLongestText) {
    const Model<float> model = tiny_model(tiny_llama, 40);
    Team team(3);
    for (const std::int64_t n : {1, 2, 40}) {
        const auto tokens = random_tokens(n, tiny_llama.vocab, 7);
        const Transcript expected = whole_text_at_once(model, KvDtype::f32, tokens);
        expect_same_bits(model, KvDtype::f32, team, tokens, {n}, expected);
        expect_same_bits(model, KvDtype::f32, team, tokens, chunks(n, 1), expected);
    }
}

// The comparison itself notices one flipped bit, in a logit or in a row.
TEST(EqualBits, AreNotClaimedForAFlippedBit) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto tokens = random_tokens(5, tiny_llama.vocab, 8);
    const Transcript expected = whole_text_at_once(model, KvDtype::f32, tokens);
    Transcript changed = expected;
    changed.logits.back() = std::nextafter(changed.logits.back(), 1e9f);
    EXPECT_FALSE(same_bits(changed, expected));
    changed = expected;
    changed.rows.rbegin()->second.back() ^= 1;
    EXPECT_FALSE(same_bits(changed, expected));
}

}  // namespace
}  // namespace kvtape
