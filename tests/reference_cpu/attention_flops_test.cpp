// The operations of the attention kernel, told apart by kind: what is a product of queries, keys
// and values (4 D per query head and key) and what is softmax.
#include <gtest/gtest.h>

#include <memory>

#include "reference_cpu/attention.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/counted.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"

namespace kvtape {
namespace {

OperationTally operator-(const OperationTally& a, const OperationTally& b) {
    return {a.multiplies - b.multiplies, a.adds - b.adds, a.divides - b.divides,
            a.square_roots - b.square_roots, a.exps - b.exps};
}

// Fills one sequence with `keys` rows per KV head and lets each of `queries` queries attend to all
// keys.
OperationTally attend_fully(KvCache& cache, SequenceId sequence, std::int64_t queries,
                            std::int64_t keys) {
    const ModelShape& s = cache.shape();
    NullTracer::Worker nobody;
    KvView<NullTracer> view(cache, nobody);
    const std::vector<float> row(static_cast<std::size_t>(s.head_dim), 0.5f);
    cache.reserve(sequence, keys);
    for (std::int32_t g = 0; g < s.kv_heads; ++g) {
        for (std::int64_t p = 0; p < keys; ++p) {
            view.store({sequence, 0, g, Kind::key}, p, row.data());
            view.store({sequence, 0, g, Kind::value}, p, row.data());
        }
    }
    AttentionScratch<Counted> scratch(s);
    const std::vector<Counted> q(static_cast<std::size_t>(s.heads * s.head_dim), Counted(1));
    std::vector<Counted> out(q.size());
    const OperationTally before = operation_tally;
    for (std::int64_t query = 0; query < queries; ++query) {
        attend(view, s, {sequence, 0, query, keys, {0, s.kv_heads}, 1}, q.data(), out.data(),
               scratch);
    }
    return operation_tally - before;
}

// Per query head with n keys in s splits, from the text of the kernel:
//   scores   D + 1 multiplies and D - 1 adds per key (the product and its scale)
//   softmax  a subtraction and an exp per key, n - s adds
//   values   D multiplies and D adds per key
//   merging  s - 1 times: 2 subtractions, 2 exps, 2 (1 + D) multiplies, 1 + D adds
//   at last  one divide and D multiplies
OperationTally expected(std::int64_t heads, std::int64_t n, std::int64_t D) {
    const std::int64_t s = (n + attention_split - 1) / attention_split;
    return {heads * (n * (2 * D + 1) + (s - 1) * 2 * (1 + D) + D),
            heads * (n * (2 * D - 1) + n + n - s + (s - 1) * (3 + D)), heads, 0,
            heads * (n + 2 * (s - 1))};
}

TEST(AttentionFlops, AreTheOnesOfTheText) {
    for (const std::int64_t D : {2, 4, 6, 8, 10, 12, 16, 40}) {
        for (const std::int64_t kv_heads : {1, 2, 4}) {
            const ModelShape shape{1, 1, 4, kv_heads, D, 1, 1};
            for (const std::int64_t n : {1, 2, 63, 64, 65, 128, 129}) {
                PagedCache cache(shape, KvDtype::f32, 5, 40);
                const OperationTally tally = attend_fully(cache, 0, 1, n);
                const OperationTally text = expected(4, n, D);
                EXPECT_EQ(tally.multiplies, text.multiplies) << "D " << D << ", keys " << n;
                EXPECT_EQ(tally.adds, text.adds) << "D " << D << ", keys " << n;
                EXPECT_EQ(tally.divides, text.divides);
                EXPECT_EQ(tally.square_roots, 0);
                EXPECT_EQ(tally.exps, text.exps) << "keys " << n;
                // And their sum is attention 4 D n plus softmax as in tracer/cost_model.h.
                const std::int64_t s = (n + attention_split - 1) / attention_split;
                EXPECT_EQ(text.total(),
                          4 * (4 * D * n + 3 * n - s + (s - 1) * (7 + 3 * D) + 1 + D));
            }
        }
    }
}

struct FullAttention {
    std::int64_t batch, heads, length, head_dim;
    std::int64_t flops;  // 4 B H Sq Sk D
};

// PC-FL-01 and PC-FL-02: full attention, whichever cache holds the rows.
TEST(AttentionFlops, AreNeitherForgottenNorCountedTwice) {
    for (const auto& [batch, heads, length, head_dim, flops] :
         {FullAttention{1, 12, 64, 64, 12'582'912}, FullAttention{2, 5, 9, 4, 12'960}}) {
        const ModelShape shape{1, 1, heads, heads, head_dim, 1, 1};
        std::vector<std::unique_ptr<KvCache>> caches;
        caches.push_back(std::make_unique<NoCache>(shape, KvDtype::f32, length));
        caches.push_back(std::make_unique<ContiguousCache>(shape, KvDtype::f32, length));
        caches.push_back(std::make_unique<PagedCache>(shape, KvDtype::f32, 16, 8));
        for (const auto& cache : caches) {
            std::int64_t total = 0;
            for (SequenceId b = 0; b < batch; ++b) {
                total += attend_fully(*cache, b, length, length).total();
            }
            const std::int64_t softmax = 3 * length - 1 + 1 + head_dim;  // one split
            EXPECT_EQ(total - batch * heads * length * softmax, flops) << cache->lane().name;
        }
    }
}

}  // namespace
}  // namespace kvtape
