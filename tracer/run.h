// Runs: how many row accesses are told in one line, without losing one of them.
//
// A decode step of a 12-layer, 12-head model at depth 512 reads 147,000 rows, but the rows that one
// head reads lie in one unbroken range of positions. A run names the range; `expand` gives back the
// exact list of single accesses, and a test compares it with a recording of every single access.
#pragma once

#include <cstdint>
#include <vector>

namespace kvtape {

enum class Kind : std::uint8_t { key, value };

// Rows [position_begin, position_end) of one (sequence, layer, KV head, kind) were written, into
// the slots slot_begin, slot_begin + 1, ...: a run never spans a jump of slots.
struct WriteRun {
    std::int32_t sequence;
    std::int32_t layer;
    std::int32_t kv_head;
    Kind kind;
    std::int64_t position_begin;
    std::int64_t position_end;
    std::int64_t slot_begin;

    std::int64_t rows() const { return position_end - position_begin; }
    friend bool operator==(const WriteRun&, const WriteRun&) = default;
    friend auto operator<=>(const WriteRun&, const WriteRun&) = default;
};

// The queries at positions [query_begin, query_end) read rows of one (sequence, layer, KV head,
// kind). Query q reads the rows [key_begin, causal ? q + 1 : key_end), once for the whole group of
// query heads [head_begin, head_end): the row is fetched once and used by each head.
struct ReadRun {
    std::int32_t sequence;
    std::int32_t layer;
    std::int32_t kv_head;
    std::int32_t head_begin;
    std::int32_t head_end;
    Kind kind;
    std::int64_t query_begin;
    std::int64_t query_end;
    std::int64_t key_begin;
    std::int64_t key_end;  // for a causal run: query_end
    bool causal;

    // Rows taken from storage, one per (query, key).
    std::int64_t rows_fetched() const;
    // Rows used, one per (query, query head, key).
    std::int64_t rows_read() const { return rows_fetched() * (head_end - head_begin); }
    friend bool operator==(const ReadRun&, const ReadRun&) = default;
    friend auto operator<=>(const ReadRun&, const ReadRun&) = default;
};

// One row written once.
struct RowWrite {
    std::int32_t sequence, layer, kv_head;
    Kind kind;
    std::int64_t position, slot;
    friend auto operator<=>(const RowWrite&, const RowWrite&) = default;
};

// One row read once by one query head of one query.
struct RowRead {
    std::int32_t sequence, layer, head;
    Kind kind;
    std::int64_t query, key;  // positions
    friend auto operator<=>(const RowRead&, const RowRead&) = default;
};

std::vector<RowWrite> expand(const std::vector<WriteRun>& runs);
std::vector<RowRead> expand(const std::vector<ReadRun>& runs);

// The canonical form: sorted, and neighbours joined where the joined run says exactly the same. It
// does not depend on the order in which threads reported their accesses.
std::vector<WriteRun> canonical(std::vector<WriteRun> runs);
std::vector<ReadRun> canonical(std::vector<ReadRun> runs);

}  // namespace kvtape
