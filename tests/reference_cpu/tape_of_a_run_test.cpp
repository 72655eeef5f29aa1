// A real run on tape: written, read back, recounted and played. The tape must say what the decoder
// did.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "core/check.h"
#include "reference_cpu/compare.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "tracer/cost_model.h"
#include "tracer/playback.h"
#include "tracer/tape_writer.h"
#include "tracer/verify.h"

namespace kvtape {
namespace {

constexpr std::int64_t prompt = 13, generated = 12, capacity = 32;

std::vector<std::unique_ptr<KvCache>> three_caches(const ModelShape& shape, KvDtype dtype) {
    std::vector<std::unique_ptr<KvCache>> caches;
    caches.push_back(std::make_unique<NoCache>(shape, dtype, capacity));
    caches.push_back(std::make_unique<ContiguousCache>(shape, dtype, capacity));
    caches.push_back(std::make_unique<PagedCache>(shape, dtype, 4, 20));
    return caches;
}

class TapeOfARun : public testing::TestWithParam<const char*> {
  protected:
    std::string path(const std::string& name) {
        return (directory_ / (name + GetParam())).string();
    }

    void SetUp() override {
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        directory_ = std::filesystem::path(testing::TempDir()) /
                     ("kvtape_tape_of_a_run_" + test.substr(0, test.find('/')) + GetParam());
        std::filesystem::create_directories(directory_);
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    struct Ran {
        TapeHeader header;
        Comparison comparison;
        std::vector<Step> steps;
    };

    // Runs the three decoders, with the pool's blocks in disorder, and writes their tape.
    Ran run(const std::string& file, KvDtype dtype, int threads) {
        Ran ran;
        const Model<float> model = tiny_model(tiny_llama, capacity);
        const auto caches = three_caches(tiny_llama, dtype);
        ran.header = {"tiny", tiny_llama, capacity, {}};
        for (const auto& cache : caches) ran.header.lanes.push_back(cache->lane());
        TapeWriter writer(file, ran.header);
        Team team(threads);
        Request request;
        request.prompt = random_tokens(prompt, tiny_llama.vocab, 1);
        request.max_tokens = generated;
        request.prefill_chunk = 5;
        ran.comparison = compare(
            model, caches, team, request, {capacity},
            [](std::int32_t id) { return std::string(1, static_cast<char>('@' + id)); },
            [&](const Step& step) {
                writer.write(step);
                ran.steps.push_back(step);
            });
        writer.close();
        return ran;
    }

    std::filesystem::path directory_;
};

INSTANTIATE_TEST_SUITE_P(Encodings, TapeOfARun, testing::Values(".jsonl", ".tape"),
                         [](const auto& encoding) { return std::string(encoding.param + 1); });

TEST_P(TapeOfARun, IsVerified) {
    for (const KvDtype dtype : all_kv_dtypes) {
        const std::string file = path(name(dtype));
        const Ran ran = run(file, dtype, 2);
        EXPECT_EQ(ran.comparison.verdict, Verdict::equal_bits) << name(dtype);

        TapeReader reader(file);
        const VerifyReport report = verify(reader);
        EXPECT_TRUE(report.ok()) << name(dtype) << ": " << report.truncation
                                 << (report.problems.empty() ? "" : report.problems[0].what);
        ASSERT_EQ(report.lanes.size(), 3u);
        for (std::size_t i = 0; i < 3; ++i) {
            const LaneTotals& lane = report.lanes[i];
            const DecoderTotals& decoder = ran.comparison.decoders[i];
            EXPECT_EQ(lane.steps, decoder.passes);
            EXPECT_EQ(lane.steps, 3 + generated - 1);
            EXPECT_EQ(lane.rows_written, decoder.kv_rows_written);
            EXPECT_EQ(lane.rows_read, decoder.kv_rows_read);
            EXPECT_EQ(lane.rows_fetched, decoder.kv_rows_fetched);
            EXPECT_EQ(lane.flops, decoder.flops);
        }
        // Both caches write each fed token once; without one the whole prefix is written at every
        // pass.
        const std::int64_t fed = prompt + generated - 1;
        EXPECT_EQ(report.lanes[1].rows_written, fed * kv_rows_per_token(tiny_llama));
        EXPECT_EQ(report.lanes[2].rows_written, report.lanes[1].rows_written);
        std::int64_t fed_again = 5 + 10;  // the chunks before the prompt was complete
        for (std::int64_t length = prompt; length <= fed; ++length) fed_again += length;
        EXPECT_EQ(report.lanes[0].rows_written, fed_again * kv_rows_per_token(tiny_llama));
    }
}

// What is read back is what was written, field by field.
TEST_P(TapeOfARun, ComesBackAsItWas) {
    const std::string file = path("steps");
    const Ran ran = run(file, KvDtype::fp8_e4m3, 1);
    TapeReader reader(file);
    EXPECT_EQ(reader.header(), ran.header);
    for (const Step& expected : ran.steps) {
        Step step;
        ASSERT_EQ(reader.next(step), TapeReader::Next::step);
        EXPECT_EQ(step.index, expected.index);
        EXPECT_EQ(step.lane, expected.lane);
        EXPECT_EQ(step.phase, expected.phase);
        EXPECT_EQ(step.spans, expected.spans);
        EXPECT_EQ(step.writes, expected.writes);
        EXPECT_EQ(step.reads, expected.reads);
        EXPECT_EQ(step.flops, expected.flops);
        EXPECT_EQ(step.kv_bytes_written, expected.kv_bytes_written);
        EXPECT_EQ(step.kv_bytes_read, expected.kv_bytes_read);
        EXPECT_EQ(step.kv_bytes_held, expected.kv_bytes_held);
        EXPECT_EQ(step.pool, expected.pool);
        EXPECT_EQ(step.losses, expected.losses);
        EXPECT_EQ(step.queue, expected.queue);
        EXPECT_EQ(step.wall_ns, expected.wall_ns);
    }
    Step step;
    EXPECT_EQ(reader.next(step), TapeReader::Next::end);
}

// PC-BD-05: with 1 and with 8 threads, and again, the same tape but for the wall time.
TEST_P(TapeOfARun, IsTheSameForAnyNumberOfThreads) {
    const auto text = [](const Ran& ran) {
        std::string all = to_json(ran.header).dump();
        for (Step step : ran.steps) {
            step.wall_ns = 0;
            all += to_json(step, ran.header.shape).dump() + "\n";
        }
        return all;
    };
    const std::string once = text(run(path("once"), KvDtype::f16, 1));
    EXPECT_EQ(text(run(path("again"), KvDtype::f16, 1)), once);
    EXPECT_EQ(text(run(path("threads"), KvDtype::f16, 8)), once);
}

// The history that is played back is the state that the caches had.
TEST_P(TapeOfARun, PlaysBackWhatWasInTheCache) {
    const std::string file = path("playback");
    run(file, KvDtype::f32, 2);
    for (const std::int32_t lane : {1, 2}) {
        TapeReader reader(file);
        const Playback playback = load_playback(reader, lane);
        ASSERT_EQ(playback.steps(), 3 + generated - 1);
        std::int64_t length = 0;
        for (std::int64_t step = 0; step < playback.steps(); ++step) {
            const std::int64_t before = length;
            length = step < 3 ? std::min(prompt, 5 * (step + 1)) : length + 1;
            EXPECT_EQ(playback.rows_in_cache(step), length * kv_rows_per_token(tiny_llama));
            if (lane == 2) {
                EXPECT_EQ(std::ssize(playback.block_table(step, 0)), (length + 3) / 4);
            }
            for (std::int64_t position = 0; position < length; ++position) {
                const Cell cell = playback.cell(step, 0, 1, 1, Kind::value, position);
                ASSERT_TRUE(cell.filled) << "step " << step << ", position " << position;
                EXPECT_EQ(cell.sequence, 0);
                EXPECT_EQ(cell.position, position);
                EXPECT_EQ(cell.written_now, position >= before);
                EXPECT_EQ(cell.written_phase, position < prompt ? Phase::prefill : Phase::decode);
                // Each query of the step at or behind the row read it, once per query head.
                const std::int64_t queries = length - std::max(before, position);
                EXPECT_EQ(cell.read_now, queries * tiny_llama.group_size());
                EXPECT_EQ(cell.times_fetched, length - position);
            }
            EXPECT_FALSE(playback.cell(step, 0, 1, 1, Kind::value, length).filled);
        }
    }
}

}  // namespace
}  // namespace kvtape
