// Large tapes: memory stays small whatever the size of the file, and offsets have 64 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "support/tape_files.h"
#include "tracer/playback.h"

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
// 100 MB and for any other of such steps.
TEST(LargeTape, TwoHundredThousandStepsNeedLittleMemory) {
    constexpr std::int64_t count = counts_memory ? 200000 : 5000;
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
