// What forward() is given and what it refuses. A pass that is refused leaves the cache as it was.
#include "reference_cpu/forward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/check.h"
#include "reference_cpu/attention.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"

namespace kvtape {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Forward : public testing::Test {
  protected:
    std::vector<float> run(KvCache& cache, const std::vector<Span>& spans) {
        return forward(model_, spans, cache, tracer_, team_).logits;
    }
    std::string refusal(KvCache& cache, const std::vector<Span>& spans) {
        try {
            run(cache, spans);
        } catch (const Error& error) {
            return error.what();
        }
        return "computed";
    }

    Model<float> model_ = tiny_model(tiny_llama, 16);
    NullTracer tracer_;
    Team team_{2};
    std::vector<std::int32_t> tokens_ = random_tokens(17, tiny_llama.vocab, 1);
};

// PC-EQ-04: an id outside the vocabulary is an error, not a look-up.
TEST_F(Forward, RefusesTokensOutsideTheVocabulary) {
    for (const std::int32_t id : {32, -1, 204483}) {
        ContiguousCache cache(tiny_llama, KvDtype::f32, 16);
        const std::vector<std::int32_t> tokens = {1, 2, id};
        EXPECT_THAT(refusal(cache, {{4, 0, tokens}}),
                    AllOf(HasSubstr(std::to_string(id)), HasSubstr("position 2"), HasSubstr("32")));
        EXPECT_EQ(cache.length(4), 0);
        EXPECT_EQ(cache.bytes_held(), 0);
    }
}

TEST_F(Forward, RefusesPositionsBeyondTheModel) {
    ContiguousCache cache(tiny_llama, KvDtype::f32, 100);
    EXPECT_THAT(refusal(cache, {{0, 0, tokens_}}), AllOf(HasSubstr("17"), HasSubstr("16")));
    EXPECT_EQ(cache.bytes_held(), 0);
    run(cache, {{0, 0, std::span(tokens_).first(16)}});
    EXPECT_THAT(refusal(cache, {{0, 16, std::span(tokens_).last(1)}}), HasSubstr("17"));
    EXPECT_EQ(cache.length(0), 16);
}

TEST_F(Forward, ChecksItsCaller) {
    ContiguousCache cache(tiny_llama, KvDtype::f32, 16);
    const std::span<const std::int32_t> all = tokens_;
    EXPECT_THROW(run(cache, {{0, 1, all.first(3)}}), ContractViolation);     // begins too late
    EXPECT_THROW(run(cache, {{0, 0, all.first(0)}}), ContractViolation);     // nothing to do
    EXPECT_THROW(run(cache, {{0, 0, all.first(3), 4}}), ContractViolation);  // 4 rows of 3 tokens
    EXPECT_THROW(run(cache, {{0, 0, all.first(3), -1}}), ContractViolation);
    run(cache, {{0, 0, all.first(3)}});
    EXPECT_THROW(run(cache, {{0, 0, all.first(4)}}), ContractViolation);  // already written
    EXPECT_EQ(cache.length(0), 3);
}

// One sequence in two spans of one pass would write the same rows twice.
TEST_F(Forward, RefusesASequenceTwiceInABatch) {
    const std::span<const std::int32_t> all = tokens_;
    ContiguousCache cache(tiny_llama, KvDtype::f32, 16);
    EXPECT_THROW(run(cache, {{3, 0, all.first(2)}, {1, 0, all.first(2)}, {3, 0, all.first(4)}}),
                 ContractViolation);
    NoCache no_cache(tiny_llama, KvDtype::f32, 16);
    EXPECT_THROW(run(no_cache, {{3, 0, all.first(2)}, {3, 0, all.first(2)}}), ContractViolation);
}

// The pool has room for each sequence of the batch, not for both. The batch is refused as a whole:
// the first one takes no block either, and a smaller batch finds the cache as it was.
TEST_F(Forward, LeavesTheCacheAsItWasWhenTheBatchDoesNotFit) {
    const std::span<const std::int32_t> all = tokens_;
    PagedCache cache(tiny_llama, KvDtype::f32, 4, 4), fresh(tiny_llama, KvDtype::f32, 4, 4);
    run(cache, {{0, 0, all.first(3)}});
    const std::int64_t held = cache.bytes_held();
    cache.take_pool_events();
    EXPECT_THAT(refusal(cache, {{1, 0, all.first(6)}, {0, 3, all.subspan(3, 8)}}),
                "paged cache: 2 sequences together need 4 more blocks for 17 tokens, 3 of 4 are "
                "free (12 tokens); use a larger pool or fewer sequences");
    EXPECT_TRUE(cache.take_pool_events().empty());
    EXPECT_EQ(cache.bytes_held(), held);
    EXPECT_EQ(cache.pool().free_blocks(), 3);
    EXPECT_TRUE(cache.block_table(1).empty());
    EXPECT_EQ(cache.length(0), 3);
    EXPECT_EQ(cache.length(1), 0);

    EXPECT_EQ(run(cache, {{1, 0, all.first(6)}}), run(fresh, {{1, 0, all.first(6)}}));
    EXPECT_EQ(cache.block_table(1).size(), 2u);
    cache.release(0);
    cache.release(1);
    EXPECT_EQ(cache.pool().free_blocks(), 4);
}

// The same where a sequence would first have to copy a block that it shares.
TEST_F(Forward, CopiesNoSharedBlockForABatchThatDoesNotFit) {
    const std::span<const std::int32_t> all = tokens_;
    PagedCache cache(tiny_llama, KvDtype::f32, 4, 4);
    run(cache, {{0, 0, all.first(6)}});
    cache.fork(0, 1);
    cache.take_pool_events();
    EXPECT_NE(refusal(cache, {{1, 6, all.subspan(6, 1)}, {2, 0, all.first(8)}}), "computed");
    EXPECT_TRUE(cache.take_pool_events().empty());
    EXPECT_EQ(cache.pool().free_blocks(), 2);
    EXPECT_EQ(cache.block_table(0)[1], cache.block_table(1)[1]);
    // Both owners write: one copies, the other keeps the block. One free block is enough.
    run(cache, {{1, 6, all.subspan(6, 1)}, {2, 0, all.first(4)}});
    run(cache, {{0, 6, all.subspan(6, 1)}});
    EXPECT_EQ(cache.pool().free_blocks(), 0);
}

// The arrays of a contiguous cache are per sequence: one that is too long makes none for the rest.
TEST_F(Forward, MakesNoArrayForABatchWithASequenceThatIsTooLong) {
    const std::span<const std::int32_t> all = tokens_;
    ContiguousCache cache(tiny_llama, KvDtype::f32, 8);
    EXPECT_THAT(refusal(cache, {{1, 0, all.first(6)}, {2, 0, all.first(9)}}),
                AllOf(HasSubstr("sequence 2"), HasSubstr("9 positions"), HasSubstr("8")));
    EXPECT_EQ(cache.bytes_held(), 0);
}

TEST_F(Forward, GivesRowsOfLogitsInTheOrderOfTheSpans) {
    const std::span<const std::int32_t> all = tokens_;
    PagedCache cache(tiny_llama, KvDtype::f32, 4, 20);
    const auto together = run(
        cache, {{2, 0, all.first(5), 2}, {9, 0, all.first(7), 0}, {1, 0, all.subspan(5, 4), 4}});
    ASSERT_EQ(together.size(), 6u * 32);
    const auto a = run(cache, {{20, 0, all.first(5), 2}});
    const auto c = run(cache, {{21, 0, all.subspan(5, 4), 4}});
    std::vector<float> expected = a;
    expected.insert(expected.end(), c.begin(), c.end());
    EXPECT_EQ(together, expected);
    EXPECT_TRUE(run(cache, {{22, 0, all.first(5), 0}}).empty());
}

TEST_F(Forward, DoesNothingForAnEmptyBatch) {
    PagedCache cache(tiny_llama, KvDtype::f32, 4, 4);
    EXPECT_TRUE(run(cache, {}).empty());
    EXPECT_EQ(cache.bytes_held(), 0);
}

// PC-TR-08: scores are kept for one split at a time, so 4 heads need 4 * 64 * 4 = 1024 bytes per
// thread, whatever is cached and however long the chunk is. That is the whole estimate, and also
// the peak.
TEST_F(Forward, KeepsScoresOfOneSplitOnly) {
    AttentionScratch<float> scratch(tiny_llama);
    EXPECT_EQ(scratch.scores.size() * sizeof(float), 1024u);
    const Model<float> model = tiny_model(tiny_llama, 200);
    ContiguousCache cache(tiny_llama, KvDtype::f32, 200);
    const auto tokens = random_tokens(150, tiny_llama.vocab, 1);
    forward(model, {{0, 0, tokens, 0}}, cache, tracer_, team_);
    NullTracer::Worker nobody;
    KvView<NullTracer> view(cache, nobody);
    std::vector<float> q(16, 0.5f), out(16);
    for (const std::int64_t keys : {1, 12, 16, 64, 65, 150}) {
        attend(view, tiny_llama, {0, 0, keys - 1, keys, {0, 2}, 0.5f}, q.data(), out.data(),
               scratch);
        EXPECT_EQ(scratch.scores.size() * sizeof(float), 1024u);
        EXPECT_EQ(scratch.scores.capacity() * sizeof(float), 1024u);
    }
}

}  // namespace
}  // namespace kvtape
