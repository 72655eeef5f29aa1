// Verify accepts what is right and names what is wrong.
#include "tracer/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "support/error_text.h"
#include "support/synthetic_engine.h"
#include "support/tape_files.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

using ::testing::HasSubstr;
using namespace test;

VerifyReport verify_steps(const TapeHeader& header, const std::vector<Step>& steps) {
    const Folder folder;
    TapeWriter writer(folder / "a.tape", header);
    for (const Step& step : steps) writer.write(step);
    writer.close();
    TapeReader reader(folder / "a.tape");
    return verify(reader);
}

// Rows counted one by one.
void expect_totals(const LaneTotals& totals, const std::vector<Step>& steps) {
    std::int64_t written = 0, read = 0, bytes_read = 0;
    for (const Step& step : steps) {
        written += static_cast<std::int64_t>(expand(step.writes).size());
        read += static_cast<std::int64_t>(expand(step.reads).size());
        bytes_read += step.kv_bytes_read;
    }
    EXPECT_EQ(totals.steps, static_cast<std::int64_t>(steps.size()));
    EXPECT_EQ(totals.rows_written, written);
    EXPECT_EQ(totals.rows_read, read);
    EXPECT_EQ(totals.kv_bytes_read, bytes_read);
    EXPECT_EQ(totals.kv_bytes_read, totals.rows_fetched * 16);  // head_dim 4, f32
    EXPECT_EQ(totals.kv_bytes_written, totals.rows_written * 16);
}

class VerifyOf : public ::testing::TestWithParam<const char*> {};

TEST_P(VerifyOf, AcceptsWhatAnEngineDoes) {
    for (unsigned seed = 100; seed < 140; ++seed) {
        SyntheticEngine engine(GetParam(), seed);
        engine.run(40);
        const VerifyReport report = verify_steps(engine.header, engine.steps);
        EXPECT_TRUE(report.ok()) << "seed " << seed << " lane step "
                                 << (report.problems.empty() ? -1 : report.problems[0].step) << ": "
                                 << (report.problems.empty() ? "" : report.problems[0].what);
        if (!report.ok()) return;
        expect_totals(report.lanes[0], engine.steps);
    }
}

INSTANTIATE_TEST_SUITE_P(Caches, VerifyOf, ::testing::Values("none", "contiguous", "paged"),
                         [](const auto& name) { return std::string(name.param); });

// ---- injected faults --------------------------------------------------------------------------

// Two sequences in a paged lane, block size 2: sequence 0 has blocks 0 and 1 (positions 0..2),
// sequence 1 has block 2 (positions 0..1). Three steps; the fault is put into the last.
class VerifyFault : public ::testing::Test {
  protected:
    VerifyFault() {
        header_.model = "fault";
        header_.shape = {2, 8, 4, 2, 4, 16, 32};
        header_.max_model_len = 16;
        header_.lanes = {{"paged", "cpu", "paged", KvDtype::f16, 2, 8}};
        add_step({{0, 0, 2}, {1, 0, 1}}, {{0, 0}, {1, 2}});
        add_step({{0, 2, 1}}, {{0, 1}});
        add_step({{0, 3, 1}, {1, 1, 1}}, {});
    }

    struct Span {
        std::int32_t sequence;
        std::int64_t first, tokens;
    };
    struct Allocation {
        std::int32_t sequence;
        std::int64_t block;
    };

    void add_step(const std::vector<Span>& spans, const std::vector<Allocation>& allocations) {
        Step step;
        step.index = static_cast<std::int64_t>(steps_.size());
        for (const auto& [sequence, block] : allocations) {
            step.pool.push_back({PoolEventKind::allocate, sequence, block, -1});
            tables_[sequence].push_back(block);
        }
        std::vector<SpanCost> costs;
        for (const auto& [sequence, first, tokens] : spans) {
            SpanRecord span;
            span.sequence = sequence;
            span.first_position = first;
            span.tokens.assign(static_cast<std::size_t>(tokens), {3, "x"});
            step.spans.push_back(span);
            costs.push_back({first, tokens, 1});
            for (std::int32_t layer = 0; layer < 2; ++layer) {
                for (std::int32_t head = 0; head < 2; ++head) {
                    for (const Kind kind : {Kind::key, Kind::value}) {
                        for (std::int64_t p = first; p < first + tokens; ++p) {
                            const auto index = static_cast<std::size_t>(p / 2);
                            step.writes.push_back({sequence, layer, head, kind, p, p + 1,
                                                   tables_[sequence][index] * 2 + p % 2});
                        }
                        step.reads.push_back({sequence, layer, head, head * 2, head * 2 + 2, kind,
                                              first, first + tokens, 0, first + tokens, true});
                    }
                }
            }
            held_rows_ += tokens * 8;
        }
        step.writes = canonical(std::move(step.writes));
        step.reads = canonical(std::move(step.reads));
        step.flops = expected_flops(header_.shape, costs);
        recount(step);
        steps_.push_back(step);
    }

    void recount(Step& step) {
        step.kv_bytes_written = step.kv_bytes_read = 0;
        for (const WriteRun& run : step.writes) step.kv_bytes_written += run.rows() * 8;
        for (const ReadRun& run : step.reads) step.kv_bytes_read += run.rows_fetched() * 8;
        step.kv_bytes_held = held_rows_ * 8;
    }

    // Applies the fault to the last step; the bytes stay consistent with the runs. Exactly the
    // first problem must say so.
    void expect_found(const std::function<void(Step&)>& fault, const std::string& text) {
        std::vector<Step> steps = steps_;
        fault(steps.back());
        recount(steps.back());
        const VerifyReport report = verify_steps(header_, steps);
        ASSERT_FALSE(report.ok());
        EXPECT_THAT(report.problems[0].what, HasSubstr(text));
        EXPECT_EQ(report.problems[0].step, 2);
        EXPECT_EQ(report.problems[0].what.find('\n'), std::string::npos);
    }

    TapeHeader header_;
    std::vector<Step> steps_;
    std::map<std::int32_t, std::vector<std::int64_t>> tables_;
    std::int64_t held_rows_ = 0;
};

TEST_F(VerifyFault, NoneIsFoundWhereNoneIs) {
    const VerifyReport report = verify_steps(header_, steps_);
    EXPECT_TRUE(report.ok()) << report.problems[0].what;
    EXPECT_EQ(report.steps(), 3);
}

TEST_F(VerifyFault, AMissingWrite) {
    expect_found([](Step& step) { step.writes.erase(step.writes.begin() + 5); },
                 "layer 1, KV head 0, values: wrote positions [3, 3)");
}

TEST_F(VerifyFault, ARowWrittenTwice) {
    expect_found([](Step& step) { step.writes.push_back(step.writes.back()); }, "twice");
}

TEST_F(VerifyFault, ARowInTheWrongSlot) {
    expect_found([](Step& step) { step.writes[0].slot_begin = 9; },
                 "wrote position 3 to slot 9; the block table has slot 3");
}

// Without pool events, the first layer, KV head and kind tells where the rows lie; the other seven
// are wrong, not right about something new.
TEST_F(VerifyFault, RowsThatLieElsewhereInOtherTracks) {
    steps_.resize(1);
    Step& step = steps_[0];
    step.pool.clear();
    for (WriteRun& run : step.writes) {
        const bool is_first = run.layer == 0 && run.kv_head == 0 && run.kind == Kind::key;
        if (run.sequence == 1 && !is_first) run.slot_begin = 12;
    }
    const VerifyReport report = verify_steps(header_, steps_);
    EXPECT_EQ(report.problems_found, 7);
    EXPECT_THAT(report.problems[0].what,
                HasSubstr("wrote position 0 to slot 12; the block table has slot 4"));
}

TEST_F(VerifyFault, ARowInABlockOfSomeoneElse) {
    expect_found(
        [](Step& step) {
            step.pool.push_back({PoolEventKind::share, 5, 1, -1});
        },
        "which other sequences hold too");
}

TEST_F(VerifyFault, ARowInABlockThatWasFreed) {
    expect_found(
        [](Step& step) {
            step.pool.push_back({PoolEventKind::preempt, 1, -1, -1});
        },
        "the block table has no block for it");
}

TEST_F(VerifyFault, AMissingRead) {
    expect_found([](Step& step) { step.reads.erase(step.reads.begin() + 9); },
                 "sequence 1, layer 0, KV head 0");
}

TEST_F(VerifyFault, AMaskThatIsOneTooShort) {
    expect_found(
        [](Step& step) {
            step.reads[2].causal = false;
            step.reads[2].key_end -= 1;
        },
        "causal prefix");
}

TEST_F(VerifyFault, AReadOfTheFuture) {
    expect_found(
        [](Step& step) {
            step.reads[2].causal = false;
            step.reads[2].key_end += 1;
        },
        "causal prefix");
}

TEST_F(VerifyFault, AHeadThatDoesNotRead) {
    expect_found([](Step& step) { step.reads[0].head_end -= 1; }, "causal prefix");
}

TEST_F(VerifyFault, ARowReadTwice) {
    expect_found([](Step& step) { step.reads.push_back(step.reads[0]); }, "causal prefix");
}

TEST_F(VerifyFault, HeadsThatFetchForThemselvesAreRight) {
    std::vector<Step> steps = steps_;
    std::vector<ReadRun> reads;
    for (const ReadRun& run : steps.back().reads) {
        ReadRun first = run, second = run;
        first.head_end -= 1;
        second.head_begin += 1;
        reads.push_back(first);
        reads.push_back(second);
    }
    steps.back().reads = canonical(reads);
    recount(steps.back());
    const VerifyReport report = verify_steps(header_, steps);
    EXPECT_TRUE(report.ok()) << report.problems[0].what;
    EXPECT_EQ(report.lanes[0].rows_read, verify_steps(header_, steps_).lanes[0].rows_read);
    EXPECT_GT(report.lanes[0].rows_fetched, verify_steps(header_, steps_).lanes[0].rows_fetched);
}

TEST_F(VerifyFault, AReadOfRowsThatWereNeverWritten) {
    steps_.pop_back();
    steps_.pop_back();
    tables_[0] = {0, 1};
    add_step({{0, 3, 1}}, {{0, 1}});  // position 2 was left out
    const VerifyReport report = verify_steps(header_, steps_);
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(report.problems[0].what, HasSubstr("not the one before it"));
}

TEST_F(VerifyFault, AShareOfABlockThatIsNotFull) {
    steps_.pop_back();
    tables_[5] = {2};  // sequence 1 has written one of its two rows
    add_step({{5, 2, 1}}, {{5, 4}});
    auto& pool = steps_.back().pool;
    pool.insert(pool.begin(), {PoolEventKind::share, 5, 2, -1});
    const VerifyReport report = verify_steps(header_, steps_);
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(report.problems[0].what, HasSubstr("positions [1, 2) were read but are not there"));
}

TEST_F(VerifyFault, ARowWrittenOverAnother) {
    steps_.pop_back();
    add_step({{0, 2, 1}}, {});
    EXPECT_THAT(verify_steps(header_, steps_).problems[0].what,
                HasSubstr("over a row that was there already"));
}

TEST_F(VerifyFault, WrongBytesAndFlops) {
    steps_.back().kv_bytes_read += 1;
    EXPECT_THAT(verify_steps(header_, steps_).problems[0].what, HasSubstr("kv_bytes read"));
    steps_.back().kv_bytes_read -= 1;
    steps_.back().kv_bytes_held = 0;
    EXPECT_THAT(verify_steps(header_, steps_).problems[0].what, HasSubstr("kv_bytes held"));
    steps_.back().kv_bytes_held = held_rows_ * 8;
    steps_.back().flops[Component::softmax] += 1;
    EXPECT_THAT(verify_steps(header_, steps_).problems[0].what, HasSubstr("flops of softmax"));
}

TEST_F(VerifyFault, AnUnfinishedTapeIsNotOk) {
    const Folder folder;
    {
        TapeWriter writer(folder / "a.tape", header_);
        for (const Step& step : steps_) writer.write(step);
    }
    TapeReader reader(folder / "a.tape");
    const VerifyReport report = verify(reader);
    EXPECT_FALSE(report.ok());
    EXPECT_EQ(report.problems_found, 0);
    EXPECT_THAT(report.truncation, HasSubstr("without an end record"));
}

// A recorder joins runs. Those of others are joined here, but not for hours: 1,000 queries each of
// keys and values in two parts, in 8,192 layers, are more than one step may ask for.
TEST(Verify, ReadsThatAreNotJoinedMayNotTakeForever) {
    TapeHeader header = small_header();
    header.max_model_len = 0;
    header.shape = {8192, 8, 1, 1, 4, 16, 32};
    Step step;
    step.spans = {{0, 0, std::vector<TokenText>(1000, {1, "x"}), 1, {}}};
    for (std::int32_t layer = 0; layer < header.shape.layers; ++layer) {
        for (const Kind kind : {Kind::key, Kind::value}) {
            step.writes.push_back({0, layer, 0, kind, 0, 1000, 0});
            step.reads.push_back({0, layer, 0, 0, 1, kind, 0, 500, 0, 500, true});
            step.reads.push_back({0, layer, 0, 0, 1, kind, 500, 1000, 0, 1000, true});
        }
    }
    const VerifyReport report = verify_steps(header, {step});
    ASSERT_FALSE(report.ok());
    EXPECT_THAT(report.problems[0].what, HasSubstr("layer 4192, KV head 0: the query heads"));
}

// The largest model that a tape may have, without a run: it must not take long.
TEST(Verify, AHugeModelWithoutRunsIsQuick) {
    TapeHeader header = small_header();
    header.shape = {max_rows_per_token / 2, 1 << 24, 1 << 24, 1, 1 << 24, 1 << 24, 1 << 24};
    Step step;
    step.spans = {{0, 0, {{1, "x"}}, 1, {}}};
    const VerifyReport report = verify_steps(header, {step});
    EXPECT_FALSE(report.ok());
}

}  // namespace
}  // namespace kvtape
