// The runs of the Recorder say exactly what happened: beside it a tracer lists every single row
// access (support/exact_recorder.h), and the runs must expand to that list, nothing more and
// nothing less. They are the same runs for any number of threads.
#include <gtest/gtest.h>

#include <memory>

#include "core/fnv1a.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/forward_body.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/exact_recorder.h"
#include "support/tiny_models.h"

namespace kvtape {
namespace {

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
}

// What a pass over these spans must read: every query head of every query its causal prefix.
std::vector<RowRead> expected_reads(const ModelShape& s, const std::vector<Span>& spans) {
    std::vector<RowRead> rows;
    for (const Span& span : spans) {
        const std::int64_t end = span.first_position + std::ssize(span.tokens);
        for (std::int32_t layer = 0; layer < s.layers; ++layer) {
            for (std::int32_t head = 0; head < s.heads; ++head) {
                for (const Kind kind : {Kind::key, Kind::value}) {
                    for (std::int64_t query = span.first_position; query < end; ++query) {
                        for (std::int64_t key = 0; key <= query; ++key) {
                            rows.push_back({span.sequence, layer, head, kind, query, key});
                        }
                    }
                }
            }
        }
    }
    return sorted(rows);
}

struct Recorded {
    std::vector<WriteRun> writes;
    std::vector<ReadRun> reads;
    std::vector<std::pair<RowWrite, std::uint64_t>> digests;
};

// Runs the pass and checks the runs against the list; `spans` may start at positions > 0, up to
// which the cache is filled first.
Recorded record(const Model<float>& model, const std::vector<Span>& spans, KvCache& cache,
                int threads) {
    const ModelShape& s = model.config.shape;
    Team team(threads);
    NullTracer nobody;
    for (const Span& span : spans) {
        if (span.first_position == 0) continue;
        const auto before = random_tokens(span.first_position, s.vocab, 1);
        forward(model, {{span.sequence, 0, before, 0}}, cache, nobody, team);
    }
    ExactRecorder tracer(threads);
    forward(model, spans, cache, tracer, team);
    const Recorder::StepAccesses step = tracer.recorder().take_step();

    EXPECT_EQ(sorted(expand(step.writes)), tracer.writes());
    EXPECT_EQ(sorted(expand(step.reads)), tracer.reads());
    EXPECT_EQ(tracer.reads(), expected_reads(s, spans));
    std::int64_t fetched = 0, read = 0;
    for (const ReadRun& run : step.reads) {
        fetched += run.rows_fetched();
        read += run.rows_read();
    }
    EXPECT_EQ(fetched, tracer.fetches());
    EXPECT_EQ(read, std::ssize(tracer.reads()));
    EXPECT_TRUE(std::is_sorted(step.writes.begin(), step.writes.end()));
    EXPECT_TRUE(std::is_sorted(step.reads.begin(), step.reads.end()));

    Recorded result{step.writes, step.reads, {}};
    const auto stored = tracer.stored();
    EXPECT_EQ(step.digests.size(), stored.size());
    for (std::size_t i = 0; i < stored.size() && i < step.digests.size(); ++i) {
        EXPECT_EQ(step.digests[i].row, stored[i].first);
        EXPECT_EQ(step.digests[i].digest, fnv1a(stored[i].second.data(), stored[i].second.size()));
        result.digests.emplace_back(step.digests[i].row, step.digests[i].digest);
    }
    return result;
}

class RecordedRuns : public testing::TestWithParam<HeadLayout> {};
INSTANTIATE_TEST_SUITE_P(Heads, RecordedRuns, testing::ValuesIn(head_layouts),
                         [](const auto& layout) { return layout.param.name; });

TEST_P(RecordedRuns, ExpandToEverySingleAccess) {
    const ModelShape& s = GetParam().shape;
    const Model<float> model = tiny_model(s, 160);
    const auto tokens = random_tokens(140, s.vocab, 2);
    const std::span<const std::int32_t> all = tokens;
    const std::vector<std::vector<Span>> passes = {
        {{0, 0, all.first(1)}},
        {{0, 0, all.first(9)}},
        {{0, 70, all.first(1)}},
        {{0, 5, all.first(6)}},
        {{0, 60, all.first(9)}},  // over a split
        {{5, 0, all.first(4)}, {2, 66, all.first(1)}, {9, 3, all.first(2)}, {1, 0, all.first(1)}},
    };
    for (const std::vector<Span>& spans : passes) {
        for (const std::int64_t block_size : {0, 1, 3, 16, 100}) {
            std::vector<Recorded> recorded;
            for (const int threads : {1, 2, 3, 8}) {
                std::unique_ptr<KvCache> cache;
                if (block_size == 0) {
                    cache = std::make_unique<ContiguousCache>(s, KvDtype::bf16, 160);
                } else {
                    cache = std::make_unique<PagedCache>(s, KvDtype::bf16, block_size,
                                                         200 / block_size + 4);
                }
                recorded.push_back(record(model, spans, *cache, threads));
                EXPECT_EQ(recorded.back().writes, recorded.front().writes) << threads << " threads";
                EXPECT_EQ(recorded.back().reads, recorded.front().reads) << threads << " threads";
                EXPECT_EQ(recorded.back().digests, recorded.front().digests) << threads;
            }
        }
    }
}

// Runs are few: one read run per (sequence, layer, KV head, kind), one write run per jump of slots.
TEST_P(RecordedRuns, AreFew) {
    const ModelShape& s = GetParam().shape;
    const Model<float> model = tiny_model(s, 160);
    const auto tokens = random_tokens(150, s.vocab, 2);
    const std::int64_t tracks = 2 * s.layers * s.kv_heads;
    for (const int threads : {1, 3}) {
        ContiguousCache contiguous(s, KvDtype::f32, 160);
        const Recorded flat = record(model, {{0, 0, tokens}}, contiguous, threads);
        EXPECT_EQ(std::ssize(flat.writes), tracks);
        EXPECT_EQ(std::ssize(flat.reads), tracks);
        PagedCache paged(s, KvDtype::f32, 16, 10);  // a fresh pool hands out neighbours
        const Recorded in_pages = record(model, {{0, 0, tokens}}, paged, threads);
        EXPECT_EQ(std::ssize(in_pages.writes), tracks);
        EXPECT_EQ(in_pages.reads, flat.reads);  // reads are told in positions, not in slots
    }
}

// The whole prefix again: what NoCache reads is what prefill reads.
TEST_P(RecordedRuns, OfNoCacheAreThoseOfOneLongPrefill) {
    const ModelShape& s = GetParam().shape;
    const Model<float> model = tiny_model(s, 160);
    const auto tokens = random_tokens(70, s.vocab, 2);
    NoCache none(s, KvDtype::f32, 160);
    ContiguousCache contiguous(s, KvDtype::f32, 160);
    record(model, {{0, 0, std::span(tokens).first(69)}}, none, 2);
    const Recorded again = record(model, {{0, 0, tokens}}, none, 2);
    const Recorded prefill = record(model, {{0, 0, tokens}}, contiguous, 2);
    EXPECT_EQ(again.writes, prefill.writes);
    EXPECT_EQ(again.reads, prefill.reads);
    EXPECT_EQ(again.digests, prefill.digests);
}

}  // namespace
}  // namespace kvtape
