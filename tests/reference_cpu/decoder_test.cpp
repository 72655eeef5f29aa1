// The loop around forward(): what is fed when, when it stops, and what it reports.
#include "reference_cpu/decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "core/check.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

using testing::HasSubstr;

constexpr std::int64_t max_model_len = 16;

std::vector<std::unique_ptr<KvCache>> all_caches() {
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<NoCache>(tiny_llama, KvDtype::f32, max_model_len));
    caches.push_back(std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f32, max_model_len));
    caches.push_back(std::make_unique<PagedCache>(tiny_llama, KvDtype::f32, 3, 6));
    return caches;
}

class DecoderTest : public testing::Test {
  protected:
    struct Run {
        Generation generation;
        std::vector<Step> steps;
    };

    Run run(KvCache& cache, const Request& request, const LengthLimit& limit = {max_model_len}) {
        Team team(2);
        Recorder recorder(2);
        Decoder<Recorder> decoder(model_, cache, recorder, team, request, limit);
        Run result;
        while (!decoder.finished()) result.steps.push_back(decoder.step().step);
        result.generation = decoder.generation();
        return result;
    }

    static Request request(std::int64_t prompt, std::optional<std::int64_t> max_tokens = {}) {
        Request r;
        r.prompt = random_tokens(prompt, tiny_llama.vocab, 1);
        r.max_tokens = max_tokens;
        return r;
    }

    Model<float> model_ = tiny_model(tiny_llama, max_model_len);
};

// The prompt is fed once, whole or in chunks; then each new token but the last.
TEST_F(DecoderTest, FeedsThePromptAndThenAllButTheLastToken) {
    for (const std::int64_t chunk : {0, 1, 2, 3, 4, 5, 99}) {
        for (const auto& cache : all_caches()) {
            SCOPED_TRACE(cache->lane().name + ", chunks of " + std::to_string(chunk));
            const bool keeps = cache->lane().cache != "none";
            Request r = request(5, 4);
            r.prefill_chunk = chunk;
            const auto [generation, steps] = run(*cache, r);
            const std::int64_t prefills = chunk == 0 ? 1 : (5 + chunk - 1) / chunk;
            ASSERT_EQ(std::ssize(steps), prefills + 3);
            ASSERT_EQ(generation.token_ids.size(), 4u);

            std::vector<std::int32_t> text = r.prompt;
            text.insert(text.end(), generation.token_ids.begin(), generation.token_ids.end());
            std::int64_t fed = 0, picked = 0;
            for (std::int64_t i = 0; i < std::ssize(steps); ++i) {
                const Step& step = steps[static_cast<std::size_t>(i)];
                const SpanRecord& span = step.spans.at(0);
                EXPECT_EQ(step.index, i);
                EXPECT_EQ(step.phase, i < prefills ? Phase::prefill : Phase::decode);
                EXPECT_EQ(span.first_position, keeps ? fed : 0);
                fed = span.first_position + std::ssize(span.tokens);
                EXPECT_EQ(fed, i < prefills ? std::min(5l, chunk == 0 ? 5 : (i + 1) * chunk)
                                            : 5 + i - prefills + 1);
                for (std::size_t t = 0; t < span.tokens.size(); ++t) {
                    EXPECT_EQ(span.tokens[t].id,
                              text[static_cast<std::size_t>(span.first_position) + t]);
                }
                // Only a finished prompt is sampled from.
                ASSERT_EQ(span.sampled.size(), i + 1 >= prefills ? 1u : 0u);
                EXPECT_EQ(span.logit_rows, std::ssize(span.sampled));
                if (!span.sampled.empty()) {
                    EXPECT_EQ(span.sampled[0].token.id,
                              generation.token_ids[static_cast<std::size_t>(picked++)]);
                }
            }
            EXPECT_EQ(cache->length(0), keeps ? 5 + 4 - 1 : 0);
        }
    }
}

// PC-EQ-02, PC-TR-02: a decode step stands at the position that is the length of the cache, and as
// many tokens are processed as were given.
TEST_F(DecoderTest, DecodesAtThePositionThatIsTheLengthOfTheCache) {
    ContiguousCache contiguous(tiny_llama, KvDtype::f32, max_model_len);
    PagedCache paged(tiny_llama, KvDtype::f32, 4, 4);
    for (KvCache* cache : {static_cast<KvCache*>(&contiguous), static_cast<KvCache*>(&paged)}) {
        Team team(1);
        Recorder recorder(1);
        Decoder<Recorder> decoder(model_, *cache, recorder, team, request(3, 3), {max_model_len});
        std::vector<std::int64_t> positions;
        while (!decoder.finished()) {
            const std::int64_t length = cache->length(0);
            const Step& step = decoder.step().step;
            EXPECT_EQ(step.spans[0].first_position, length);
            for (const WriteRun& write : step.writes) {
                EXPECT_EQ(write.position_begin, length);
                EXPECT_EQ(write.position_end, cache->length(0));
            }
            for (std::int64_t p = length; p < cache->length(0); ++p) positions.push_back(p);
        }
        EXPECT_THAT(positions, testing::ElementsAre(0, 1, 2, 3, 4));
    }
    ContiguousCache another(tiny_llama, KvDtype::f32, max_model_len);
    const auto [generation, steps] = run(another, request(15));
    EXPECT_EQ(steps[0].spans[0].tokens.size(), 15u);
    EXPECT_EQ(generation.token_ids.size(), 1u);
}

// PC-TR-05: without a limit of its own a request runs to that of the model, and says so.
TEST_F(DecoderTest, StopsAtTheLengthLimitWithItsReason) {
    for (const auto& cache : all_caches()) {
        const auto [generation, steps] = run(*cache, request(3));
        EXPECT_EQ(generation.token_ids.size(), 13u);
        EXPECT_EQ(generation.finish_reason, FinishReason::length);
        EXPECT_EQ(generation.finish_detail, "max_model_len, 16 tokens");
        const auto [short_one, short_steps] = run(*all_caches()[1], request(3, 2));
        EXPECT_EQ(short_one.finish_reason, FinishReason::length);
        EXPECT_EQ(short_one.finish_detail, "max_tokens 2");
    }
}

// PC-TR-07: a memory cap of 4096 bytes is 64 tokens of 64 bytes, whichever cache grows.
TEST_F(DecoderTest, StopsAtTheMemoryCapWithItsBytes) {
    const Model<float> model = tiny_model(tiny_llama, 1000);
    const LengthLimit limit =
        limit_by_memory({1000}, 4096, kv_bytes_per_token(tiny_llama, KvDtype::f16));
    for (const std::int64_t block_size : {0, 16}) {
        std::unique_ptr<KvCache> cache;
        if (block_size == 0) {
            cache = std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f16, limit.tokens);
        } else {
            cache = std::make_unique<PagedCache>(tiny_llama, KvDtype::f16, block_size, 4);
        }
        NullTracer tracer;
        Team team(1);
        Decoder<NullTracer> decoder(model, *cache, tracer, team, request(3), limit);
        while (!decoder.finished()) {
            decoder.step();
            EXPECT_LE(cache->bytes_held(), 4096);
        }
        EXPECT_EQ(decoder.generation().token_ids.size(), 61u);
        EXPECT_THAT(decoder.generation().finish_detail, HasSubstr("4096 bytes"));
        EXPECT_THAT(decoder.generation().finish_detail, HasSubstr("64 tokens"));
    }
}

TEST_F(DecoderTest, StopsAtAStopToken) {
    const auto free_run = run(*all_caches()[1], request(4, 8)).generation.token_ids;
    Request r = request(4, 8);
    r.stop_ids = {-5, free_run[2]};
    const auto [generation, steps] = run(*all_caches()[1], r);
    EXPECT_EQ(generation.finish_reason, FinishReason::stop);
    // Up to and with the first token of that id.
    const auto stop = std::find(free_run.begin(), free_run.end(), free_run[2]);
    EXPECT_EQ(generation.token_ids, std::vector<std::int32_t>(free_run.begin(), stop + 1));
}

TEST_F(DecoderTest, RefusesBeforeAnythingIsComputed) {
    PagedCache cache(tiny_llama, KvDtype::f32, 4, 4);
    EXPECT_THROW(run(cache, request(17)), Error);
    EXPECT_THROW(run(cache, request(16)), Error);
    EXPECT_THROW(run(cache, request(4, 13)), Error);
    EXPECT_EQ(cache.pool().free_blocks(), 4);
    EXPECT_TRUE(cache.take_pool_events().empty());
}

// A cache that still holds the last text would be taken for a prefix.
TEST_F(DecoderTest, RefusesACacheThatIsNotEmpty) {
    ContiguousCache cache(tiny_llama, KvDtype::f32, max_model_len);
    const auto first = run(cache, request(4, 4));
    EXPECT_THROW(run(cache, request(9, 4)), ContractViolation);
    cache.release(0);
    EXPECT_EQ(run(cache, request(4, 4)).generation.token_ids, first.generation.token_ids);
}

// All positions, from all caches and chunk sizes: the same rows of logits.
TEST_F(DecoderTest, GivesTheLogitsOfEveryPositionOnRequest) {
    std::vector<float> first;
    for (const std::int64_t chunk : {0, 2}) {
        for (const auto& cache : all_caches()) {
            Request r = request(5, 4);
            r.all_logits = true;
            r.prefill_chunk = chunk;
            Team team(1);
            NullTracer tracer;
            Decoder<NullTracer> decoder(model_, *cache, tracer, team, r, {max_model_len});
            std::vector<float> logits;
            while (!decoder.finished()) {
                const PassReport& report = decoder.step();
                EXPECT_EQ(report.first_logit_position * tiny_llama.vocab, std::ssize(logits));
                logits.insert(logits.end(), report.logits.begin(), report.logits.end());
            }
            EXPECT_EQ(std::ssize(logits), (5 + 4 - 1) * tiny_llama.vocab);
            if (first.empty()) first = logits;
            EXPECT_EQ(logits, first) << cache->lane().name << ", chunks of " << chunk;
        }
    }
}

// The hash is over the rows that tokens were picked from, and does not depend on how they came
// about.
TEST_F(DecoderTest, HashesTheLogitsItPickedFrom) {
    const Request r = request(5, 4);
    const auto expected = run(*all_caches()[0], r).generation;
    EXPECT_NE(expected.logits_hash, run(*all_caches()[0], request(6, 4)).generation.logits_hash);
    for (const auto& cache : all_caches()) {
        EXPECT_EQ(run(*cache, r).generation.logits_hash, expected.logits_hash);
        Request chunked = r;
        chunked.prefill_chunk = 2;
        cache->release(0);
        EXPECT_EQ(run(*cache, chunked).generation.logits_hash, expected.logits_hash);
    }
}

TEST_F(DecoderTest, KeepsTimeToFirstTokenApartFromTheOthers) {
    Request r = request(6, 5);
    r.prefill_chunk = 2;
    const auto [generation, steps] = run(*all_caches()[1], r);
    EXPECT_EQ(generation.itl_seconds.size(), 4u);
    const auto seconds = [&steps = steps](std::size_t i) {
        return static_cast<double>(steps[i].wall_ns) * 1e-9;
    };
    EXPECT_NEAR(generation.ttft_seconds, seconds(0) + seconds(1) + seconds(2), 1e-9);
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(generation.itl_seconds[i], seconds(3 + i), 1e-9);
}

TEST_F(DecoderTest, SamplesTheSameTokensForTheSameSeed) {
    Request r = request(4, 8);
    r.sampling = {1.5, 0.95, 42};
    const auto a = run(*all_caches()[0], r).generation.token_ids;
    const auto b = run(*all_caches()[2], r).generation.token_ids;
    EXPECT_EQ(a, b);
    r.sampling.seed = 43;
    EXPECT_NE(run(*all_caches()[0], r).generation.token_ids, a);
}

// Weights may be finite and their sums not. Nothing can be picked from such logits; the pass is
// reported all the same, with the accesses that led there.
TEST_F(DecoderTest, EndsAsFailedWhenALogitIsNotFinite) {
    ModelWeights weights = tiny_weights(tiny_llama);
    for (float& weight : weights.final_norm) weight = 1e38f;
    std::fill(weights.head.begin(), weights.head.end(), 0.0f);
    for (std::int64_t i = 0; i < tiny_llama.hidden; ++i) {  // one large row: token 7
        weights.head[static_cast<std::size_t>(7 * tiny_llama.hidden + i)] = 100;
    }
    model_ = Model<float>(config_of(tiny_llama, max_model_len), weights);
    for (const double temperature : {0.0, 1.0}) {
        for (const auto& cache : all_caches()) {
            Request r = request(4, 8);
            r.sampling.temperature = temperature;
            const auto [generation, steps] = run(*cache, r);
            EXPECT_EQ(generation.finish_reason, FinishReason::failed);
            EXPECT_THAT(generation.finish_detail,
                        testing::MatchesRegex(
                            "the logit of token 7 is -?infinity; the weights are damaged, or too "
                            "large to compute with in float32"));
            EXPECT_TRUE(generation.token_ids.empty());
            ASSERT_EQ(steps.size(), 1u);
            EXPECT_EQ(steps[0].queue.running, 0);
            EXPECT_TRUE(steps[0].spans[0].sampled.empty());
            EXPECT_FALSE(steps[0].writes.empty());
        }
    }
}

TEST_F(DecoderTest, PutsTheBytesOfTokensOnTheTape) {
    Team team(1);
    Recorder recorder(1);
    ContiguousCache cache(tiny_llama, KvDtype::f32, max_model_len);
    const auto bytes_of = [](std::int32_t id) { return "<" + std::to_string(id) + ">"; };
    Decoder<Recorder> decoder(model_, cache, recorder, team, request(3, 2), {max_model_len}, 0,
                              bytes_of);
    const SpanRecord span = decoder.step().step.spans[0];
    for (const TokenText& token : span.tokens) EXPECT_EQ(token.bytes, bytes_of(token.id));
    EXPECT_EQ(span.sampled[0].token.bytes, bytes_of(span.sampled[0].token.id));
}

}  // namespace
}  // namespace kvtape
