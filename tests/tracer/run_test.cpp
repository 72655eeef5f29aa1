// Runs: nothing is lost, and the canonical form does not depend on who reported what in which
// order.
#include "tracer/run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"
#include "tracer/run_box.h"

namespace kvtape {
namespace {

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
    std::sort(rows.begin(), rows.end());
    return rows;
}

template <class Item>
void shuffle(std::vector<Item>& items, Random& random) {
    for (std::size_t i = items.size(); i > 1; --i) {
        std::swap(items[i - 1], items[random.next() % i]);
    }
}

std::int64_t below(Random& random, std::int64_t n) {
    return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(n));
}

// One run for each single access.
WriteRun run_of(const RowWrite& row) {
    return {row.sequence, row.layer,        row.kv_head, row.kind,
            row.position, row.position + 1, row.slot};
}
ReadRun run_of(const RowRead& row) {
    return {row.sequence, row.layer,     row.head / 2, row.head,    row.head + 1,        row.kind,
            row.query,    row.query + 1, row.key,      row.key + 1, row.key == row.query};
}

ReadRun causal(std::int64_t query_begin, std::int64_t query_end, std::int64_t key_begin = 0) {
    return {0, 0, 0, 0, 2, Kind::key, query_begin, query_end, key_begin, query_end, true};
}
ReadRun full(std::int64_t query_begin, std::int64_t query_end, std::int64_t key_begin,
             std::int64_t key_end) {
    return {0, 0, 0, 0, 2, Kind::key, query_begin, query_end, key_begin, key_end, false};
}

TEST(Runs, RowsFetchedCountsWhatExpandLists) {
    for (std::int64_t query_begin = 0; query_begin < 5; ++query_begin) {
        for (std::int64_t query_end = query_begin; query_end < 7; ++query_end) {
            for (std::int64_t key_begin = 0; key_begin < 8; ++key_begin) {
                for (const ReadRun& run : {causal(query_begin, query_end, key_begin),
                                           full(query_begin, query_end, key_begin, 6)}) {
                    EXPECT_EQ(static_cast<std::int64_t>(expand({run}).size()), run.rows_read());
                    EXPECT_EQ(run.rows_read(), 2 * run.rows_fetched());
                }
            }
        }
    }
    EXPECT_EQ(causal(0, 1000).rows_fetched(), 500500);
}

TEST(Runs, RowsFetchedNeeds64Bits) {
    EXPECT_EQ(causal(0, std::int64_t{1} << 31).rows_fetched(), 2305843010287435776);  // n(n+1)/2
    EXPECT_EQ(full(0, std::int64_t{1} << 20, 0, std::int64_t{1} << 31).rows_fetched(),
              std::int64_t{1} << 51);
}

TEST(Runs, CanonicalWritesJoinWhatIsOneRange) {
    const std::vector<WriteRun> runs = {{0, 0, 0, Kind::key, 6, 9, 6},
                                        {0, 0, 0, Kind::key, 0, 4, 0},
                                        {0, 0, 0, Kind::key, 4, 6, 4}};
    EXPECT_EQ(canonical(runs), (std::vector<WriteRun>{{0, 0, 0, Kind::key, 0, 9, 0}}));
}

TEST(Runs, CanonicalWritesDoNotSpanAJumpOfSlots) {
    const std::vector<WriteRun> runs = {{0, 0, 0, Kind::key, 0, 4, 0},
                                        {0, 0, 0, Kind::key, 4, 8, 12}};
    EXPECT_EQ(canonical(runs), runs);
}

TEST(Runs, CanonicalReadsJoinPrefillTiles) {
    // Queries in tiles of 4, keys in splits of 4: what an attention kernel reports.
    const std::vector<ReadRun> tiles = {causal(4, 8, 4),   full(4, 8, 0, 4),  causal(0, 4),
                                        full(8, 12, 0, 4), full(8, 12, 4, 8), causal(8, 12, 8)};
    EXPECT_EQ(canonical(tiles), std::vector<ReadRun>{causal(0, 12)});
}

TEST(Runs, CanonicalReadsOfOneQueryAreCausalIfTheyEndThere) {
    EXPECT_EQ(canonical({full(7, 8, 0, 8)}), std::vector<ReadRun>{causal(7, 8)});
    EXPECT_EQ(canonical({full(7, 8, 0, 7)}), (std::vector<ReadRun>{full(7, 8, 0, 7)}));
}

TEST(Runs, CanonicalReadsKeepWhoSharedAFetch) {
    ReadRun alone = causal(0, 3), other = causal(0, 3);
    alone.head_end = 1;
    other.head_begin = 1;
    EXPECT_EQ(canonical({other, alone}), (std::vector<ReadRun>{alone, other}));
}

TEST(Runs, CanonicalReadsKeepRepetitions) {
    EXPECT_EQ(canonical({causal(0, 5), causal(0, 5)}),
              (std::vector<ReadRun>{causal(0, 5), causal(0, 5)}));
}

TEST(Runs, RandomWritesSurviveAndOrderDoesNotMatter) {
    Random random(1);
    for (int round = 0; round < 300; ++round) {
        std::vector<RowWrite> rows;
        const std::int64_t count = 1 + below(random, 60);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t position = below(random, 12);
            rows.push_back({static_cast<std::int32_t>(below(random, 2)), 0,
                            static_cast<std::int32_t>(below(random, 2)),
                            static_cast<Kind>(below(random, 2)), position,
                            position + 12 * below(random, 2)});
        }
        std::vector<WriteRun> runs;
        for (const RowWrite& row : rows) runs.push_back(run_of(row));
        const std::vector<WriteRun> joined = canonical(runs);
        EXPECT_EQ(sorted(expand(joined)), sorted(rows));
        EXPECT_TRUE(std::is_sorted(joined.begin(), joined.end()));

        shuffle(runs, random);
        EXPECT_EQ(canonical(runs), joined);
        // Joined in two portions first, as two threads would.
        const auto half = runs.begin() + below(random, count + 1);
        using Part = std::vector<WriteRun>;
        Part both = canonical(Part(runs.begin(), half));
        for (const WriteRun& run : canonical(Part(half, runs.end()))) both.push_back(run);
        EXPECT_EQ(canonical(both), joined);
    }
}

TEST(Runs, RandomReadsSurviveAndOrderDoesNotMatter) {
    Random random(2);
    for (int round = 0; round < 500; ++round) {
        std::vector<RowRead> rows;
        const std::int64_t count = 1 + below(random, 80);
        for (std::int64_t i = 0; i < count; ++i) {
            rows.push_back({0, 0, static_cast<std::int32_t>(below(random, 2)), Kind::key,
                            below(random, 6), below(random, 6)});
        }
        std::vector<ReadRun> runs;
        for (const RowRead& row : rows) runs.push_back(run_of(row));
        const std::vector<ReadRun> joined = canonical(runs);
        EXPECT_EQ(sorted(expand(joined)), sorted(rows));

        shuffle(runs, random);
        EXPECT_EQ(canonical(runs), joined);
        const auto half = runs.begin() + below(random, count + 1);
        using Part = std::vector<ReadRun>;
        Part both = canonical(Part(runs.begin(), half));
        for (const ReadRun& run : canonical(Part(half, runs.end()))) both.push_back(run);
        EXPECT_EQ(canonical(both), joined);
    }
}

TEST(Runs, RandomReadRectanglesAreJoinedAlikeHoweverTheyWereCut) {
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<ReadRun> runs, pieces;
        const std::int64_t count = 1 + below(random, 4);
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t query = below(random, 8), key = below(random, 8);
            const std::int64_t query_end = query + 1 + below(random, 5);
            runs.push_back(below(random, 2) == 0
                               ? causal(query, query_end, key)
                               : full(query, query_end, key, key + 1 + below(random, 5)));
        }
        for (const RowRead& row : expand(runs)) {
            if (row.head != 0) continue;
            pieces.push_back(full(row.query, row.query + 1, row.key, row.key + 1));
        }
        shuffle(pieces, random);
        EXPECT_EQ(canonical(pieces), canonical(runs));
        EXPECT_EQ(sorted(expand(canonical(runs))), sorted(expand(runs)));
    }
}

TEST(RunBoxes, ADecodeStepIsOneLine) {
    std::vector<WriteRun> writes;
    std::vector<ReadRun> reads;
    for (std::int32_t layer = 0; layer < 5; ++layer) {
        for (std::int32_t head = 0; head < 2; ++head) {
            for (const Kind kind : {Kind::key, Kind::value}) {
                writes.push_back({0, layer, head, kind, 7, 8, 7});
                reads.push_back({0, layer, head, head * 4, head * 4 + 4, kind, 7, 8, 0, 8, true});
            }
        }
    }
    EXPECT_EQ(fold(writes, 1).size(), 1u);
    EXPECT_EQ(fold(writes, 1)[0].runs(), 20);
    EXPECT_EQ(fold(reads, 4).size(), 1u);
    EXPECT_EQ(unfold(fold(writes, 1), 1), writes);
    EXPECT_EQ(unfold(fold(reads, 4), 4), reads);
}

TEST(RunBoxes, RandomRunsUnfoldToThemselves) {
    Random random(4);
    for (int round = 0; round < 300; ++round) {
        std::vector<WriteRun> writes;
        std::vector<ReadRun> reads;
        const std::int64_t count = below(random, 60);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto layer = static_cast<std::int32_t>(below(random, 3));
            const auto head = static_cast<std::int32_t>(below(random, 3));
            const auto kind = static_cast<Kind>(below(random, 2));
            const std::int64_t at = below(random, 2);
            writes.push_back({0, layer, head, kind, at, at + 1, at});
            reads.push_back(
                {0, layer, head, head * 2, head * 2 + 2, kind, at, at + 1, 0, at + 1, true});
        }
        EXPECT_EQ(unfold(fold(writes, 1), 1), sorted(writes));
        EXPECT_EQ(unfold(fold(reads, 2), 2), sorted(reads));
    }
}

}  // namespace
}  // namespace kvtape
