// Recounts a tape and looks for contradictions in it. Nothing is taken from the program that wrote
// it: rows are counted from the runs, bytes from the rows, FLOPs from the closed forms.
//
// What is checked in every step, for every layer, KV head and kind:
//   - exactly the positions of the step's spans were written, each once, and not over a row that
//     the sequence still holds;
//   - every query head of every query read exactly its causal prefix, once, and every row of that
//     prefix had been written, and not freed since;
//   - in a paged lane, rows went to the block that the sequence's block table names, and no block
//     that others hold too was written;
//   - the bytes are rows times D times bytes per element, and the FLOPs are those of
//     tracer/cost_model.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/step.h"
#include "tracer/tape_reader.h"

namespace kvtape {

struct VerifyProblem {
    std::int32_t lane;
    std::int64_t step;  // within the lane
    std::string what;   // one line
};

// Counted from the runs of one lane.
struct LaneTotals {
    std::int64_t steps = 0;
    std::int64_t rows_written = 0;
    std::int64_t rows_read = 0;     // one per (query, query head, key), K and V each
    std::int64_t rows_fetched = 0;  // one per (query, key) and group of heads that shares the fetch
    std::int64_t kv_bytes_written = 0;
    std::int64_t kv_bytes_read = 0;
    FlopCounts flops;
};

struct VerifyReport {
    std::vector<LaneTotals> lanes;        // (lanes)
    std::vector<VerifyProblem> problems;  // the first max_listed of them
    std::int64_t problems_found = 0;
    std::string truncation;  // empty if the tape is complete, else the reader's message
    std::string end_reason;  // why the run stopped early, or empty

    static constexpr std::int64_t max_listed = 100;
    bool ok() const { return problems_found == 0 && truncation.empty(); }
    std::int64_t steps() const;
};

// Reads the tape to its end. Throws TapeError if a record is corrupt.
VerifyReport verify(TapeReader& reader);

}  // namespace kvtape
