// Large tapes: memory stays small whatever the size of the file, and offsets have 64 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "support/tape_files.h"
#include "tracer/lane_check.h"
#include "tracer/playback.h"
#include "tracer/step_check.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

using namespace test;
using ::testing::HasSubstr;

// Memory of this process that is in RAM, in bytes.
std::int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool counts_memory = false;  // sanitizers keep what was freed
#elif defined(__has_feature)
constexpr bool counts_memory =
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool counts_memory = true;
#endif

// PC-TV-05: stated bound: 32 MiB for the reader and 32 MiB for playback of one lane, for a file of
// 104 MB and for any other of such steps.
TEST(LargeTape, ThreeHundredThousandStepsNeedLittleMemory) {
    constexpr std::int64_t count = counts_memory ? 300000 : 5000;
    const Folder folder;
    TapeHeader header = small_header();
    header.max_model_len = 0;
    {
        // The text of one step with other numbers: written much faster than by TapeWriter.
        TapeWriter writer(folder / "a.jsonl", header);
        const std::int64_t header_bytes = writer.bytes_written();
        writer.write(small_step(0));
        std::FILE* file = std::fopen((folder / "a.jsonl").c_str(), "r+");
        std::fseek(file, header_bytes, SEEK_SET);
        for (std::int64_t i = 0; i < count; ++i) {
            const long n = i;
            std::fprintf(file,
                         "{\"step\":%ld,\"lane\":0,\"phase\":\"decode\",\"spans\":[{\"sequence\":0,"
                         "\"first_position\":%ld,\"tokens\":[{\"id\":1,\"text\":\"x\"}],"
                         "\"logit_rows\":1}],\"writes\":[[0,0,2,0,2,\"kv\",%ld,%ld,%ld]],"
                         "\"reads\":[[0,0,2,0,2,\"kv\",0,2,%ld,%ld,0,%ld,true]],"
                         "\"flops\":[0,0,0,0,0,0,0,0,0],\"kv_bytes\":{\"written\":128,\"read\":%ld,"
                         "\"held\":%ld},\"wall_ns\":5}\n",
                         n, n, n, n + 1, n, n, n + 1, n + 1, 128 * (n + 1), 128 * (n + 1));
        }
        std::fprintf(file, "{\"end\":\"complete\",\"steps\":%ld}\n", static_cast<long>(count));
        std::fclose(file);
    }
    if (counts_memory) {
        EXPECT_GT(std::filesystem::file_size(folder / "a.jsonl"), 100'000'000u);
    }
    const std::int64_t before = resident_bytes();
    TapeReader reader(folder / "a.jsonl");
    Playback playback(reader.header(), 0);
    Step step;
    std::int64_t seen = 0, most = 0;
    for (; reader.next(step) == TapeReader::Next::step; ++seen) {
        playback.add(step);
        if (seen % 1000 == 0) most = std::max(most, resident_bytes());
    }
    EXPECT_EQ(seen, count);
    if (counts_memory) {
        EXPECT_LT(most - before, 64 << 20);
    }

    const Cell cell = playback.cell(count - 1, 0, 1, 1, Kind::value, 100);
    EXPECT_EQ(cell.written_step, 100);
    EXPECT_EQ(cell.times_fetched, count - 100);  // by each step from its own on
    EXPECT_EQ(cell.times_read, 2 * (count - 100));
    EXPECT_EQ(playback.rows_in_cache(count - 1), 8 * count);
    EXPECT_FALSE(playback.cell(99, 0, 1, 1, Kind::value, 100).filled);
}

// What is real must not be refused. 80 layers and 8 KV heads, in blocks of 16: one step computes a
// prompt of 131,072 tokens, and 100 sequences decode.
TEST(LargeTape, ALargeModelIsFarBelowTheLimits) {
    TapeHeader header = small_header();
    header.max_model_len = 0;
    header.shape = {80, 8192, 64, 8, 128, 28672, 128256};
    header.lanes = {{"paged", "cpu", "paged", KvDtype::f16, 16, 200000}};
    const auto step_of = [&](std::int64_t index, std::int32_t sequences, std::int64_t tokens) {
        Step step;
        step.index = index;
        for (std::int32_t sequence = 0; sequence < sequences; ++sequence) {
            const auto first = index * tokens, end = first + tokens;
            step.spans.push_back({sequence, first, {}, 1, {}});
            step.spans.back().tokens.resize(static_cast<std::size_t>(tokens));
            for (std::int32_t layer = 0; layer < 80; ++layer) {
                for (std::int32_t head = 0; head < 8; ++head) {
                    for (const Kind kind : {Kind::key, Kind::value}) {
                        step.writes.push_back(
                            {sequence, layer, head, kind, first, end, sequence * 160 + first});
                        step.reads.push_back({sequence, layer, head, head * 8, head * 8 + 8, kind,
                                              first, end, 0, end, true});
                    }
                }
            }
        }
        return step;
    };
    EXPECT_NO_THROW(validate(header));
    EXPECT_NO_THROW(validate(step_of(0, 1, 131072), header));

    Playback playback(header, 0);
    const std::int32_t sequences = counts_memory ? 100 : 10;
    for (std::int64_t index = 0; index < 3; ++index) playback.add(step_of(index, sequences, 1));
    EXPECT_EQ(playback.rows_in_cache(2), 3 * 1280 * sequences);

    header.shape = {96, 12288, 96, 96, 128, 49152, 50257};  // a KV head for every query head
    EXPECT_NO_THROW(validate(header));
}

// 65,536 tracks of 64 blocks each: what a checker keeps does not grow with the layers.
TEST(LargeTape, VerifyingManyTracksNeedsLittleMemory) {
    TapeHeader header = small_header();
    header.max_model_len = 0;
    header.shape = {max_rows_per_token / 2, 8, 1, 1, 4, 16, 32};
    header.lanes = {{"paged", "cpu", "paged", KvDtype::f32, 1, 1000}};
    Step step;
    step.spans = {{0, 0, std::vector<TokenText>(64, {1, "x"}), 1, {}}};
    for (std::int32_t layer = 0; layer < header.shape.layers; ++layer) {
        for (const Kind kind : {Kind::key, Kind::value}) {
            step.writes.push_back({0, layer, 0, kind, 0, 64, 7});
            step.reads.push_back({0, layer, 0, 0, 1, kind, 0, 64, 0, 64, true});
        }
    }
    step.kv_bytes_held = max_count;
    std::vector<std::string> problems;
    LaneCheck check(header, 0, [&](const std::string& problem) { problems.push_back(problem); });
    const std::int64_t before = resident_bytes();
    check.check(step);
    if (counts_memory) {
        EXPECT_LT(resident_bytes() - before, 16 << 20);
    }
    ASSERT_FALSE(problems.empty());  // the bytes and FLOPs were left out; all else is right
    EXPECT_THAT(problems[0], HasSubstr("kv_bytes written: 0"));
}

// PC-TV-05: a file of more than 2^32 bytes, most of it a hole that a crash left.
TEST(LargeTape, AHoleOfGibibytesIsReportedAtOnce) {
    const Folder folder;
    for (const std::string name : {"a.jsonl", "a.tape"}) {
        std::int64_t end = 0;
        {
            TapeWriter writer(folder / name, small_header());
            writer.write(small_step(0));
            writer.write(small_step(1));
            end = writer.bytes_written();
        }
        ASSERT_EQ(::truncate((folder / name).c_str(), std::int64_t{5} << 30), 0);
        const std::int64_t before = resident_bytes();
        const ReadOutcome outcome = read_tape(folder / name);
        EXPECT_LT(resident_bytes() - before, 32 << 20);
        EXPECT_EQ(outcome.steps.size(), 2u);
        ASSERT_TRUE(outcome.error.has_value());
        EXPECT_EQ(outcome.error->fault, TapeFault::corrupt);
        EXPECT_EQ(outcome.error->byte, end);

        // The same within a record: the rest of a line was never written.
        ASSERT_EQ(::truncate((folder / name).c_str(), end - 20), 0);
        ASSERT_EQ(::truncate((folder / name).c_str(), std::int64_t{5} << 30), 0);
        const ReadOutcome within = read_tape(folder / name);
        EXPECT_EQ(within.steps.size(), 1u);
        EXPECT_EQ(within.error->fault, TapeFault::corrupt);
    }
}

}  // namespace
}  // namespace kvtape
