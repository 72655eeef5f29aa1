// FLOPs are counted three times: reported by the kernels from their shapes, tallied operation by
// operation on a counting scalar, and written down in closed form. All three are the same integers.
#include <gtest/gtest.h>

#include <memory>

#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/counting_tracer.h"
#include "reference_cpu/forward.h"
#include "reference_cpu/linear_impl.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

// A pass over these spans, after the cache was filled up to their first positions.
struct Pass {
    const char* name;
    std::vector<SpanCost> spans;  // first_position, tokens, logit_rows
};

constexpr std::int64_t longest = 2 * attention_split + 2;

const std::vector<Pass> passes = {
    {"one token", {{0, 1, 1}}},
    {"prompt", {{0, 9, 1}}},
    {"prompt, all logits", {{0, 9, 9}}},
    {"prompt, no logits", {{0, 9, 0}}},
    {"decode step", {{9, 1, 1}}},
    {"chunk", {{3, 5, 0}}},
    {"up to a split", {{0, attention_split, 1}}},
    {"into the next split", {{attention_split - 1, 3, 1}}},
    {"over two splits", {{0, longest, 2}}},
    {"batch", {{0, 7, 1}, {70, 1, 1}, {3, 4, 0}, {0, 1, 1}, {63, 2, 2}}},
};

std::string name_of(Component component) {
    return name(component);
}

// Feeds what lies before the spans of the pass and returns the spans; `tokens` keeps their tokens.
template <class Scalar, class Tracer>
std::vector<Span> prepare(const Model<Scalar>& model, const Pass& pass, KvCache& cache, Team& team,
                          std::vector<std::vector<std::int32_t>>& tokens) {
    const std::int64_t vocab = model.config.shape.vocab;
    Tracer nobody;
    std::vector<Span> spans;
    for (std::size_t i = 0; i < pass.spans.size(); ++i) {
        const auto& [first, count, logit_rows] = pass.spans[i];
        const auto sequence = static_cast<SequenceId>(i);
        tokens.push_back(random_tokens(first + count, vocab, i));
        const std::span<const std::int32_t> all = tokens.back();
        if (first > 0) {
            const auto known = all.first(static_cast<std::size_t>(first));
            forward(model, {{sequence, 0, known, 0}}, cache, nobody, team);
        }
        spans.push_back(
            {sequence, first, all.subspan(static_cast<std::size_t>(first)), logit_rows});
    }
    return spans;
}

class Flops : public testing::TestWithParam<HeadLayout> {};
INSTANTIATE_TEST_SUITE_P(Heads, Flops, testing::ValuesIn(head_layouts),
                         [](const auto& layout) { return layout.param.name; });

TEST_P(Flops, ReportedAreTheClosedForms) {
    const ModelShape& shape = GetParam().shape;
    const Model<float> model = tiny_model(shape, longest);
    for (const Pass& pass : passes) {
        const FlopCounts expected = expected_flops(shape, pass.spans);
        for (const int threads : {1, 3}) {
            Team team(threads);
            std::vector<std::unique_ptr<KvCache>> caches;
            caches.push_back(std::make_unique<ContiguousCache>(shape, KvDtype::f32, longest));
            caches.push_back(std::make_unique<PagedCache>(shape, KvDtype::bf16, 3, 200));
            for (const auto& cache : caches) {
                std::vector<std::vector<std::int32_t>> tokens;
                const auto spans = prepare<float, NullTracer>(model, pass, *cache, team, tokens);
                Recorder recorder(threads);
                forward(model, spans, *cache, recorder, team);
                const FlopCounts reported = recorder.take_step().flops;
                for (int c = 0; c < component_count; ++c) {
                    const auto component = static_cast<Component>(c);
                    EXPECT_EQ(reported[component], expected[component])
                        << pass.name << ", " << name_of(component) << ", " << cache->lane().name
                        << ", " << threads << " threads";
                }
            }
        }
    }
}

TEST_P(Flops, TalliedAreTheClosedForms) {
    const ModelShape& shape = GetParam().shape;
    const Model<Counted> model = tiny_model<Counted>(shape, longest);
    Team team(1);
    for (const Pass& pass : passes) {
        SCOPED_TRACE(pass.name);
        const FlopCounts expected = expected_flops(shape, pass.spans);
        PagedCache cache(shape, KvDtype::f32, 4, 200);
        std::vector<std::vector<std::int32_t>> tokens;
        const auto spans = prepare<Counted, CountingTracer>(model, pass, cache, team, tokens);
        const std::int64_t tally_before = operation_tally.total();
        CountingTracer tracer;
        forward(model, spans, cache, tracer, team);
        // Nothing happened outside the reported kernels.
        EXPECT_EQ(operation_tally.total() - tally_before, expected.total());
        EXPECT_EQ(tracer.tallied().total(), expected.total());
        EXPECT_EQ(tracer.reported(), expected);
        for (int c = 0; c < component_count; ++c) {
            const auto component = static_cast<Component>(c);
            // One kernel does attention and softmax in turn; their sum is booked. The test below
            // takes them apart.
            if (component == Component::attention || component == Component::softmax) continue;
            EXPECT_EQ(tracer.tallied()[component], expected[component]) << name_of(component);
        }
        EXPECT_EQ(tracer.tallied()[Component::attention] + tracer.tallied()[Component::softmax],
                  expected[Component::attention] + expected[Component::softmax]);
    }
}

// The counting scalar computes the same bits: the vector code of the kernels adds in the order of
// their plain loops.
TEST_P(Flops, AreCountedOnTheSameNumbers) {
    const ModelShape& shape = GetParam().shape;
    const Model<float> model = tiny_model(shape, longest);
    const Model<Counted> counted_model = tiny_model<Counted>(shape, longest);
    const auto tokens = random_tokens(longest, shape.vocab, 1);
    Team team(1);
    for (const KvDtype dtype : all_kv_dtypes) {
        NoCache cache(shape, dtype, longest);
        NullTracer nobody;
        CountingTracer counting;
        const std::vector<Span> spans = {{0, 0, tokens, longest}};
        const auto logits = forward(model, spans, cache, nobody, team).logits;
        const auto counted = forward(counted_model, spans, cache, counting, team).logits;
        ASSERT_EQ(logits.size(), counted.size());
        for (std::size_t i = 0; i < logits.size(); ++i) {
            ASSERT_EQ(std::memcmp(&logits[i], &counted[i].value, sizeof(float)), 0)
                << name(dtype) << ", logit " << i;
        }
    }
}

}  // namespace
}  // namespace kvtape
