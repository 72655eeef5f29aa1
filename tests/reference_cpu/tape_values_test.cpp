// The numbers on a tape are those that lie in the cache, and each is listed once.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <tuple>

#include "reference_cpu/compare.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/peek.h"
#include "support/tiny_models.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

constexpr std::int64_t prompt = 7, generated = 6, fed = prompt + generated - 1;

using RowName = std::tuple<std::int32_t, std::int32_t, Kind, std::int64_t>;

// Every listed row of a step by its name; a row that is listed twice fails.
void add_rows(const Step& step, std::int64_t row_bytes, std::map<RowName, std::string>& rows) {
    for (const StoredRows& run : step.rows) {
        ASSERT_EQ(std::ssize(run.codes) % row_bytes, 0);
        for (std::int64_t i = 0; i < std::ssize(run.codes) / row_bytes; ++i) {
            const RowName name{run.layer, run.kv_head, run.kind, run.position_begin + i};
            const bool is_new =
                rows.emplace(name, run.codes.substr(static_cast<std::size_t>(i * row_bytes),
                                                    static_cast<std::size_t>(row_bytes)))
                    .second;
            EXPECT_TRUE(is_new) << "step " << step.index << ", position " << run.position_begin + i;
        }
    }
}

TEST(TapeValues, AreThoseInTheCacheAndAreListedOnce) {
    const Model<float> model = tiny_model(tiny_llama, 16);
    for (const KvDtype dtype : all_kv_dtypes) {
        std::vector<std::unique_ptr<KvCache>> caches;
        caches.push_back(std::make_unique<NoCache>(tiny_llama, dtype, 16));
        caches.push_back(std::make_unique<Peek<ContiguousCache>>(tiny_llama, dtype, 16));
        caches.push_back(std::make_unique<PagedCache>(tiny_llama, dtype, 3, 8));
        auto& contiguous = static_cast<Peek<ContiguousCache>&>(*caches[1]);
        const std::int64_t row_bytes = contiguous.row_bytes();

        Team team(2);
        Request request;
        request.prompt = random_tokens(prompt, tiny_llama.vocab, 1);
        request.max_tokens = generated;
        request.prefill_chunk = 4;
        std::map<RowName, std::string> rows[3];
        const auto add = [&](const Step& step) { add_rows(step, row_bytes, rows[step.lane]); };
        compare(model, caches, team, request, {16}, {}, add, /*keep_rows=*/true);

        ASSERT_EQ(std::ssize(rows[1]), fed * kv_rows_per_token(tiny_llama)) << name(dtype);
        EXPECT_EQ(rows[0], rows[1]) << name(dtype);
        EXPECT_EQ(rows[2], rows[1]) << name(dtype);
        for (const auto& [row, codes] : rows[1]) {
            const auto& [layer, kv_head, kind, position] = row;
            const auto held = contiguous.codes({0, layer, kv_head, kind}, position);
            ASSERT_EQ(held.size(), codes.size());
            EXPECT_EQ(std::memcmp(held.data(), codes.data(), codes.size()), 0) << name(dtype);
        }
    }
}

TEST(TapeValues, AreLeftOutUnlessAskedFor) {
    const Model<float> model = tiny_model(tiny_llama, 16);
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<ContiguousCache>(tiny_llama, KvDtype::f32, 16));
    Team team(1);
    Request request;
    request.prompt = random_tokens(prompt, tiny_llama.vocab, 1);
    request.max_tokens = 2;
    compare(model, caches, team, request, {16}, {},
            [](const Step& step) { EXPECT_TRUE(step.rows.empty()); });
}

// A row that changes is listed again; its neighbours, stored anew with the same bits, are not.
TEST(TapeValues, OfARowThatChangedAreListedAgain) {
    Recorder recorder(1, {.codes = true});
    const auto store = [&](std::int64_t position, float value) {
        const float row[] = {value, -value};
        recorder.worker(0).write({0, 0, 0, Kind::value, position, position},
                                 reinterpret_cast<const std::byte*>(row), sizeof row);
    };
    for (const std::int64_t position : {2, 0, 1}) store(position, 0.5f);
    const auto first = recorder.take_step().rows;
    ASSERT_EQ(first.size(), 1u);  // joined, and in order
    EXPECT_EQ(first[0].position_begin, 0);
    EXPECT_EQ(first[0].codes.size(), 3 * 2 * sizeof(float));

    store(0, 0.5f);
    store(1, 0.25f);
    store(2, 0.5f);
    const auto second = recorder.take_step().rows;
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].position_begin, 1);
    const float changed[] = {0.25f, -0.25f};
    ASSERT_EQ(second[0].codes.size(), sizeof changed);
    EXPECT_EQ(std::memcmp(second[0].codes.data(), changed, sizeof changed), 0);
}

}  // namespace
}  // namespace kvtape
