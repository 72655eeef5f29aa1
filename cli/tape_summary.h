// What a tape holds, lane by lane, counted from its runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/json_values.h"
#include "core/number_format.h"
#include "tracer/step.h"

namespace kvtape {

struct LaneSummary {
    std::int64_t prefill_steps = 0;
    std::int64_t decode_steps = 0;
    std::int64_t tokens_computed = 0;
    std::int64_t tokens_sampled = 0;
    std::int64_t rows_written = 0;
    std::int64_t rows_read = 0;     // per query head
    std::int64_t rows_fetched = 0;  // a group of query heads shares a fetch
    std::int64_t kv_bytes_written = 0;
    std::int64_t kv_bytes_read = 0;
    std::int64_t kv_bytes_held = 0;  // after the last step
    FlopCounts flops;
    StoreCounts losses;
    std::int64_t wall_ns = 0;
    std::string bytes_sampled;  // of the sampled tokens, one after another

    std::int64_t steps() const { return prefill_steps + decode_steps; }
    void add(const Step& step);
};

struct TapeSummary {
    TapeHeader header;
    std::vector<LaneSummary> lanes;  // (lanes)
    std::int64_t bytes = 0;          // of whole records
    std::string fault;               // why the tape could not be read to its end, or empty
    std::string end_reason;          // why the run stopped early, or empty

    std::int64_t steps() const;
    std::string text() const;
    Json json() const;
};

}  // namespace kvtape
