// Faults put in on purpose. A proof of equal bits is worth what it catches: each fault must be
// reported by compare(), with the step, layer and position where it first shows.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "reference_cpu/compare.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/peek.h"
#include "support/tiny_models.h"

namespace kvtape {
namespace {

constexpr std::int64_t prompt = 6, generated = 8, capacity = prompt + generated;

// A cache that answers some questions of "where is this row?" wrongly.
template <class Cache>
class Faulty : public Peek<Cache> {
  public:
    using Peek<Cache>::Peek;
    using Place = typename KvCache::Place;

    std::function<Place(const RowKey&, std::int64_t position, const Place& right)> fault;

  protected:
    Place place(const RowKey& key, std::int64_t position) override {
        const Place right = Cache::place(key, position);
        return fault ? fault(key, position, right) : right;
    }
};

bool is(const RowKey& key, std::int32_t layer, std::int32_t kv_head, Kind kind) {
    return key.layer == layer && key.kv_head == kv_head && key.kind == kind;
}

class InjectedFaults : public testing::Test {
  protected:
    using Caches = std::vector<std::unique_ptr<KvCache>>;

    // Runs NoCache beside `cache`; `after_step` is called after each of that cache's passes.
    Comparison compare_with_no_cache(
        std::unique_ptr<KvCache> cache,
        const std::function<void(std::int64_t step)>& after_step = {}) {
        Caches caches;
        caches.push_back(std::make_unique<NoCache>(tiny_llama, KvDtype::f32, capacity));
        caches.push_back(std::move(cache));
        return run(caches, request(), [&](const Step& step) {
            if (step.lane == 1 && after_step) after_step(step.index);
        });
    }

    static Request request() {
        Request r;
        r.prompt = random_tokens(prompt, tiny_llama.vocab, 1);
        r.max_tokens = generated;
        return r;
    }

    Comparison run(const Caches& caches, const Request& what,
                   const std::function<void(const Step&)>& on_step = {}) {
        Team team(1);
        return compare(model_, caches, team, what, {64}, {}, on_step);
    }

    void expect_caught(const Comparison& comparison, std::int64_t step, std::int32_t layer,
                       std::int64_t position) {
        EXPECT_EQ(comparison.verdict, Verdict::different);
        ASSERT_TRUE(comparison.first_difference.has_value());
        EXPECT_EQ(comparison.first_difference->step, step);
        EXPECT_EQ(comparison.first_difference->layer, layer);
        EXPECT_EQ(comparison.first_difference->position, position);
        // Not a rounding difference: it is a thousand times as large, or NaN.
        EXPECT_FALSE(comparison.largest_logit_difference <= 1000 * rounding_tolerance);
    }

    Model<float> model_ = tiny_model(tiny_llama);
};

// PC-EQ-16, the clean run: nothing differs, and the margin tells how near a tie was.
TEST_F(InjectedFaults, NoneIsEqualBits) {
    for (const std::int64_t block_size : {1, 2, 3, 16}) {
        const Comparison comparison = compare_with_no_cache(
            std::make_unique<Faulty<PagedCache>>(tiny_llama, KvDtype::f32, block_size, capacity));
        EXPECT_EQ(comparison.verdict, Verdict::equal_bits);
        EXPECT_FALSE(comparison.first_difference.has_value());
        EXPECT_EQ(comparison.largest_logit_difference, 0);
        EXPECT_GT(comparison.smallest_margin, rounding_tolerance);
        EXPECT_EQ(comparison.decoders[0].generation.token_ids,
                  comparison.decoders[1].generation.token_ids);
        EXPECT_EQ(comparison.decoders[1].generation.token_ids.size(), 8u);
        EXPECT_EQ(comparison.decoders[0].generation.logits_hash,
                  comparison.decoders[1].generation.logits_hash);
    }
}

// PC-EQ-16: after prefill, one K row has become that of the position before. The token of step 1
// attends to it in layer 0, so its own row of layer 1 is the first that is wrong.
TEST_F(InjectedFaults, OneShiftedRow) {
    for (const Kind kind : {Kind::key, Kind::value}) {
        auto cache = std::make_unique<Faulty<ContiguousCache>>(tiny_llama, KvDtype::f32, capacity);
        auto* faulty = cache.get();
        const Comparison comparison =
            compare_with_no_cache(std::move(cache), [&](std::int64_t step) {
                if (step == 0) faulty->copy_row({0, 0, 1, kind}, 2, 3);
            });
        expect_caught(comparison, 1, 1, prompt);
        EXPECT_EQ(comparison.first_difference->decoder, "contiguous");
        EXPECT_EQ(comparison.first_difference->what, "K row of KV head 0");
    }
}

// The same in the last layer: no row is wrong afterwards, only the logits.
TEST_F(InjectedFaults, OneShiftedRowOfTheLastLayer) {
    auto cache = std::make_unique<Faulty<PagedCache>>(tiny_llama, KvDtype::f32, 4, capacity);
    auto* faulty = cache.get();
    const Comparison comparison = compare_with_no_cache(std::move(cache), [&](std::int64_t step) {
        if (step == 3) faulty->copy_row({0, 1, 0, Kind::value}, 4, 5);
    });
    expect_caught(comparison, 4, -1, prompt + 3);
    EXPECT_EQ(comparison.first_difference->what, "logits");
    EXPECT_EQ(comparison.first_difference->decoder, "paged");
}

// A row written one slot too far: its own place stays NaN, which the same token reads in layer 0.
TEST_F(InjectedFaults, OneRowInTheNextSlot) {
    auto cache = std::make_unique<Faulty<ContiguousCache>>(tiny_llama, KvDtype::f32, capacity);
    const std::int64_t row_bytes = cache->row_bytes();
    cache->fault = [row_bytes](const RowKey& key, std::int64_t position, auto place) {
        if (is(key, 0, 0, Kind::key) && position == 3) place.row += row_bytes;
        return place;
    };
    const Comparison comparison = compare_with_no_cache(std::move(cache));
    expect_caught(comparison, 0, 1, 3);
    EXPECT_EQ(comparison.decoders[1].generation.finish_reason, FinishReason::failed);
}

// A write that is dropped. In memory that was used before, the row of the former owner stands
// there: no NaN gives it away.
TEST_F(InjectedFaults, OneStaleRow) {
    for (const std::int64_t position : {1, 5, 9}) {  // two of the prompt, one of a decode step
        auto cache = std::make_unique<Faulty<PagedCache>>(tiny_llama, KvDtype::f32, 16, 1);
        NullTracer tracer;
        Team team(1);
        const auto others = random_tokens(capacity, tiny_llama.vocab, 9);
        forward(model_, {{7, 0, others, 0}}, *cache, tracer, team);
        cache->release(7);
        std::vector<std::byte> nowhere(static_cast<std::size_t>(cache->row_bytes()));
        cache->fault = [&nowhere, position](const RowKey& key, std::int64_t p, auto place) {
            if (is(key, 0, 1, Kind::value) && p == position) place.row = nowhere.data();
            return place;
        };
        const std::int64_t step = std::max<std::int64_t>(position - prompt + 1, 0);
        expect_caught(compare_with_no_cache(std::move(cache)), step, 1, position);
    }
}

// From the first decode step on, two KV heads of layer 0 are mixed up when they are read. A fetch
// begins at position 0; nothing is stored there any more.
TEST_F(InjectedFaults, AWrongKvHead) {
    auto cache = std::make_unique<Faulty<ContiguousCache>>(tiny_llama, KvDtype::f32, capacity);
    auto* faulty = cache.get();
    cache->fault = [faulty](const RowKey& key, std::int64_t position, auto place) {
        if (key.layer == 0 && position == 0 && faulty->length(0) > 0) {
            RowKey other = key;
            other.kv_head = 1 - key.kv_head;
            place.row = faulty->raw(other, position);
        }
        return place;
    };
    expect_caught(compare_with_no_cache(std::move(cache)), 1, 1, prompt);
}

// Two logical blocks that point at the same physical one.
TEST_F(InjectedFaults, ABlockTableWithOneBlockTwice) {
    auto cache = std::make_unique<Faulty<PagedCache>>(tiny_llama, KvDtype::f32, 2, capacity);
    auto* faulty = cache.get();
    cache->fault = [faulty](const RowKey& key, std::int64_t position, auto place) {
        const bool second = position == 2 || position == 3;
        if (second) place.row = faulty->raw(key, position + 2);
        return place;
    };
    const Comparison comparison = compare_with_no_cache(std::move(cache));
    EXPECT_EQ(comparison.verdict, Verdict::different);
    EXPECT_EQ(comparison.first_difference->step, 0);
    EXPECT_EQ(comparison.first_difference->layer, 1);
    EXPECT_EQ(comparison.first_difference->position, 2);  // it already sees row 4 or 5 instead
}

// The rows of two KV heads change places when they are stored.
template <class Cache>
void mix_up_heads(Faulty<Cache>& cache, std::int32_t layer, Kind kind, std::int64_t at) {
    cache.fault = [&cache, layer, kind, at](const RowKey& key, std::int64_t position, auto place) {
        if (key.layer == layer && key.kind == kind && position == at) {
            RowKey other = key;
            other.kv_head = 1 - key.kv_head;
            place.row = cache.raw(other, position);
        }
        return place;
    };
}

// The first decoder is no authority: where it is wrong, the other one differs from it.
TEST_F(InjectedFaults, InTheFirstDecoderAreFoundToo) {
    auto none = std::make_unique<Faulty<NoCache>>(tiny_llama, KvDtype::f32, capacity);
    mix_up_heads(*none, 0, Kind::key, 8);
    Caches caches;
    caches.push_back(std::move(none));
    caches.push_back(std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f32, capacity));
    const Comparison comparison = run(caches, request());
    expect_caught(comparison, 3, 1, 8);
    EXPECT_EQ(comparison.first_difference->decoder, "contiguous");
}

// With logits for every position, the position named is the first that differs, not the first of
// the pass.
TEST_F(InjectedFaults, AreLocatedAmongAllPositionsOfAPass) {
    auto cache = std::make_unique<Faulty<ContiguousCache>>(tiny_llama, KvDtype::f32, capacity);
    mix_up_heads(*cache, 1, Kind::value, 4);
    Caches caches;
    caches.push_back(std::make_unique<NoCache>(tiny_llama, KvDtype::f32, capacity));
    caches.push_back(std::move(cache));
    Request all_logits = request();
    all_logits.all_logits = true;
    expect_caught(run(caches, all_logits), 0, -1, 4);
}

}  // namespace
}  // namespace kvtape
