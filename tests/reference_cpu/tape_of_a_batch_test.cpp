// Several sequences, a fork, copies on write and blocks that change hands, put on tape step by
// step. The tape alone must be enough to know every block table and to pass verification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "reference_cpu/forward.h"
#include "reference_cpu/paged_cache.h"
#include "support/tiny_models.h"
#include "tracer/playback.h"
#include "tracer/recorder.h"
#include "tracer/tape_writer.h"
#include "tracer/verify.h"

namespace kvtape {
namespace {

class TapeOfABatch : public testing::Test {
  protected:
    void SetUp() override {
        path_ =
            (std::filesystem::path(testing::TempDir()) / "kvtape_tape_of_a_batch.jsonl").string();
        header_ = {"tiny", tiny_llama, 64, {cache_.lane()}};
        writer_ = std::make_unique<TapeWriter>(path_, header_, Overwrite::yes);
    }
    void TearDown() override { std::filesystem::remove(path_); }

    // One pass that feeds `count` new tokens of each of these sequences, and its step.
    void pass(const std::vector<std::pair<SequenceId, std::int64_t>>& what) {
        std::vector<Span> spans;
        Step step;
        step.index = step_++;
        step.phase = what.size() == 1 && what[0].second > 1 ? Phase::prefill : Phase::decode;
        for (const auto& [sequence, count] : what) {
            const std::int64_t begin = cache_.length(sequence);
            spans.push_back({sequence, begin, std::span(tokens_).subspan(begin, count)});
            SpanRecord record;
            record.sequence = sequence;
            record.first_position = begin;
            for (const std::int32_t id : spans.back().tokens) record.tokens.push_back({id, ""});
            step.spans.push_back(record);
        }
        forward(model_, spans, cache_, recorder_, team_);
        const auto accesses = recorder_.take_step();
        step.writes = accesses.writes;
        step.reads = accesses.reads;
        step.flops = accesses.flops;
        for (const WriteRun& run : step.writes) {
            step.kv_bytes_written += run.rows() * cache_.row_bytes();
        }
        for (const ReadRun& run : step.reads) {
            step.kv_bytes_read += run.rows_fetched() * cache_.row_bytes();
        }
        step.kv_bytes_held = cache_.bytes_held();
        step.pool = cache_.take_pool_events();
        writer_->write(step);
        for (SequenceId sequence = 0; sequence < 6; ++sequence) {
            const auto table = cache_.block_table(sequence);
            tables_[{step.index, sequence}] = {table.begin(), table.end()};
        }
    }

    Model<float> model_ = tiny_model(tiny_llama);
    std::vector<std::int32_t> tokens_ = random_tokens(64, tiny_llama.vocab, 1);
    PagedCache cache_{tiny_llama, KvDtype::f32, 4, 16};
    Team team_{2};
    Recorder recorder_{2};
    std::string path_;
    TapeHeader header_;
    std::unique_ptr<TapeWriter> writer_;
    std::int64_t step_ = 0;
    std::map<std::pair<std::int64_t, SequenceId>, std::vector<std::int64_t>> tables_;
};

TEST_F(TapeOfABatch, TellsEveryBlockTable) {
    pass({{1, 6}});
    pass({{2, 9}, {3, 1}});
    pass({{1, 1}, {2, 1}, {3, 4}});
    cache_.fork(1, 4);  // shares 2 blocks, the second partly filled
    pass({{4, 1}});     // copies it
    pass({{1, 1}, {4, 3}});
    cache_.release(2);  // its blocks are taken by others, in another order
    pass({{3, 9}, {5, 2}});
    cache_.fork(4, 0);
    cache_.release(4);
    pass({{0, 5}, {1, 1}});
    writer_->close();

    TapeReader reader(path_);
    const VerifyReport report = verify(reader);
    EXPECT_TRUE(report.ok());
    for (const VerifyProblem& problem : report.problems) {
        ADD_FAILURE() << "step " << problem.step << ": " << problem.what;
    }
    TapeReader again(path_);
    const Playback playback = load_playback(again, 0);
    for (const auto& [at, table] : tables_) {
        std::map<std::int64_t, std::int64_t> expected;
        for (std::size_t i = 0; i < table.size(); ++i) {
            expected[static_cast<std::int64_t>(i)] = table[i];
        }
        EXPECT_EQ(playback.block_table(at.first, at.second), expected)
            << "step " << at.first << ", sequence " << at.second;
    }
}

}  // namespace
}  // namespace kvtape
