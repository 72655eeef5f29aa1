// How the runs of a step are spelled on a tape: one short list per box (tracer/run_box.h).
#pragma once

#include <array>
#include <vector>

#include "tracer/run.h"
#include "tracer/tape_format.h"

namespace kvtape {

// What the values of a list are. The header of a tape repeats these names, so that it explains
// itself. Heads count from the first one of the KV head's group.
inline constexpr std::array write_columns = {"sequence",       "layer_begin",  "layer_end",
                                             "kv_head_begin",  "kv_head_end",  "kinds",
                                             "position_begin", "position_end", "slot_begin"};
inline constexpr std::array read_columns = {
    "sequence",  "layer_begin",      "layer_end",      "kv_head_begin", "kv_head_end",
    "kinds",     "group_head_begin", "group_head_end", "query_begin",   "query_end",
    "key_begin", "key_end",          "causal"};

Json spell(const std::vector<WriteRun>& runs);
Json spell(const std::vector<ReadRun>& runs, std::int64_t group_size);

// Throws Error with a phrase unless layers and heads exist in `shape`. The runs come back sorted.
std::vector<WriteRun> writes_from(const Json& json, const ModelShape& shape);
std::vector<ReadRun> reads_from(const Json& json, const ModelShape& shape);

}  // namespace kvtape
