// Costs of the tiny Llama that are known as numbers: FLOPs, rows and bytes, measured on real
// passes.
#include <gtest/gtest.h>

#include <memory>

#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/counted.h"
#include "reference_cpu/decoder.h"
#include "reference_cpu/linear_impl.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

std::int64_t layer_linear(const FlopCounts& flops) {
    return flops[Component::projections] + flops[Component::mlp];
}

// FLOPs of one pass over a fresh sequence, after `known` tokens.
FlopCounts measured(const Model<float>& model, std::int64_t known, std::int64_t tokens) {
    const ModelShape& shape = model.config.shape;
    ContiguousCache cache(shape, KvDtype::f32, known + tokens);
    Team team(1);
    Recorder recorder(1);
    const auto ids = random_tokens(known + tokens, shape.vocab, 1);
    if (known > 0) {
        forward(model, {{0, 0, std::span(ids).first(known), 0}}, cache, recorder, team);
        recorder.take_step();
    }
    forward(model, {{0, known, std::span(ids).subspan(known), 1}}, cache, recorder, team);
    return recorder.take_step().flops;
}

// PC-FL-04
TEST(CostCases, DoublingThePromptMoreThanDoublesTheFlops) {
    const Model<float> model = tiny_model(tiny_llama);
    const auto total = [&](std::int64_t s) {
        const FlopCounts flops = measured(model, 0, s);
        EXPECT_EQ(layer_linear(flops), 9216 * s);
        EXPECT_EQ(flops[Component::attention], 64 * s * (s + 1));
        EXPECT_EQ(flops[Component::head], 1024);
        return layer_linear(flops) + flops[Component::attention] + flops[Component::head];
    };
    EXPECT_EQ(total(16), 165'888);
    EXPECT_EQ(total(32), 363'520);
}

// PC-FL-05: the look-up of the embedding is free, the head is not, tied or untied.
TEST(CostCases, TyingTheHeadSavesParametersButNoFlops) {
    const Model<float> untied(config_of(tiny_llama, 64, false), tiny_weights(tiny_llama, false));
    const Model<float> tied(config_of(tiny_llama, 64, true), tiny_weights(tiny_llama, true));
    const FlopCounts of_untied = measured(untied, 0, 1), of_tied = measured(tied, 0, 1);
    EXPECT_EQ(of_untied[Component::head], 1024);
    EXPECT_EQ(of_untied, of_tied);
    EXPECT_EQ(untied.parameters() - tied.parameters(), 512);
    // 2 tables, 2 layers of q, k, v, o, gate, up, down and two norms, the last norm.
    EXPECT_EQ(untied.parameters(), 2 * 512 + 2 * (256 + 128 + 128 + 256 + 3 * 512 + 32) + 16);
}

// PC-FL-02: one token, summed over the parts.
TEST(CostCases, ThePartsSumToTheTotal) {
    const FlopCounts flops = measured(tiny_model(tiny_llama), 0, 1);
    std::int64_t sum = 0;
    for (int c = 0; c < component_count; ++c) sum += flops[static_cast<Component>(c)];
    EXPECT_EQ(sum, flops.total());
    EXPECT_EQ(layer_linear(flops) + flops[Component::attention] + flops[Component::head],
              9216 + 128 + 1024);
    // The rest by hand: softmax 2 * 4 * (3 - 1 + 1 + 4), norms 5 * 67, rope 2 * 6 * 12, activation
    // 2 * 4 * 32, residual 2 * 2 * 16.
    EXPECT_EQ(flops.total(), 9216 + 128 + 1024 + 56 + 335 + 144 + 256 + 64);
}

// PC-FL-07: 16 x 16 on one token is 256 multiply-adds, 512 FLOPs.
TEST(CostCases, AMultiplyAddIsTwoFlops) {
    const std::vector<float> weights(256, 0.5f);
    const PackedLinear<Counted> linear(weights.data(), 16, 16);
    const std::vector<Counted> x(16, Counted(1));
    std::vector<Counted> y(16);
    const OperationTally before = operation_tally;
    linear.multiply(x.data(), 1, y.data());
    EXPECT_EQ(operation_tally.multiplies - before.multiplies, 256);
    EXPECT_EQ(operation_tally.total() - before.total(), 512);
}

// PC-FL-08: fewer KV heads make K and V cheaper, not the scores.
TEST(CostCases, GroupedHeadsShrinkProjectionsOnly) {
    const FlopCounts grouped = measured(tiny_model({2, 16, 4, 2, 4, 32, 32}), 9, 1);
    const FlopCounts full = measured(tiny_model({2, 16, 4, 4, 4, 32, 32}), 9, 1);
    EXPECT_EQ(layer_linear(grouped), 2 * 4608);
    EXPECT_EQ(layer_linear(full), 2 * 5120);
    EXPECT_EQ(full[Component::projections] - grouped[Component::projections], 2 * 2 * (512 - 256));
    EXPECT_EQ(grouped[Component::attention], 2 * 640);
    EXPECT_EQ(full[Component::attention], 2 * 640);
}

// PC-MM-10: f16 rows of 2 KV heads, not of 4 query heads; as many as the sequence has, not the
// capacity.
TEST(CostCases, ADecodeStepReadsTheTrueLengthOncePerKvHead) {
    const Model<float> model = tiny_model(tiny_llama, 66);
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f16, 66));
    caches.push_back(std::make_unique<PagedCache>(tiny_llama, KvDtype::f16, 4, 17));
    for (const auto& cache : caches) {
        Team team(1);
        Recorder recorder(1);
        Request request;
        request.prompt = {1};
        request.max_tokens = 65;
        Decoder<Recorder> decoder(model, *cache, recorder, team, request, {66});
        for (std::int64_t t = 1; !decoder.finished(); ++t) {
            const Step& step = decoder.step().step;
            EXPECT_EQ(step.kv_bytes_written, 64);
            EXPECT_EQ(step.kv_bytes_read, 64 * t);
            const bool paged = cache->lane().cache == "paged";
            EXPECT_EQ(step.kv_bytes_held, paged ? (t + 3) / 4 * 256 : 66 * 64) << "length " << t;
        }
    }
    EXPECT_EQ(kv_bytes_per_token(tiny_llama, KvDtype::f16), 64);
    EXPECT_EQ(3 * kv_bytes_per_block(tiny_llama, KvDtype::f16, 4), 768);  // what t = 10 holds
}

// Rows, counted from the runs of a whole decode, against the closed forms.
TEST(CostCases, RowsAreThoseOfTheClosedForms) {
    constexpr std::int64_t prompt = 60, generated = 20;
    for (const HeadLayout& layout : head_layouts) {
        const ModelShape& s = layout.shape;
        const Model<float> model = tiny_model(s, prompt + generated);
        std::vector<std::unique_ptr<KvCache>> caches;
        caches.push_back(std::make_unique<NoCache>(s, KvDtype::f32, prompt + generated));
        caches.push_back(std::make_unique<ContiguousCache>(s, KvDtype::f32, prompt + generated));
        caches.push_back(std::make_unique<PagedCache>(s, KvDtype::f32, 16, 5));
        for (const auto& cache : caches) {
            Team team(2);
            Recorder recorder(2);
            Request request;
            request.prompt = random_tokens(prompt, s.vocab, 1);
            request.max_tokens = generated;
            request.prefill_chunk = 25;
            Decoder<Recorder> decoder(model, *cache, recorder, team, request, {80});
            while (!decoder.finished()) {
                const Step& step = decoder.step().step;
                const SpanRecord& span = step.spans[0];
                const SpanCost cost{span.first_position, std::ssize(span.tokens), span.logit_rows};
                std::int64_t written = 0, fetched = 0, read = 0;
                for (const WriteRun& run : step.writes) written += run.rows();
                for (const ReadRun& run : step.reads) {
                    fetched += run.rows_fetched();
                    read += run.rows_read();
                }
                EXPECT_EQ(written, kv_rows_per_token(s) * cost.tokens) << layout.name;
                EXPECT_EQ(fetched, kv_rows_fetched(s, cost)) << layout.name;
                EXPECT_EQ(read, fetched * s.group_size()) << layout.name;
                EXPECT_EQ(step.kv_bytes_read, fetched * s.head_dim * 4);
                EXPECT_EQ(step.flops, expected_flops(s, {cost})) << layout.name;
            }
        }
    }
}

}  // namespace
}  // namespace kvtape
