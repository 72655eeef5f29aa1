// What `kvtape run` says at the end.
#pragma once

#include <cstdint>
#include <string>

#include "cli/json_values.h"
#include "reference_cpu/decoder.h"

namespace kvtape {

struct RunResult {
    std::string model;
    Lane lane;
    int threads = 0;
    std::int64_t prompt_tokens = 0;
    std::int64_t prefill_passes = 0;
    std::int64_t kv_bytes_held = 0;  // after the last pass
    std::string text;                // of the generated tokens
    Generation generation;
};

// "stop" or "length".
const char* name(FinishReason reason);

Json run_json(const RunResult& result);

// Several lines. Time to first token and inter-token latency stand apart: the first is all of
// prefill, the others are one decode pass each, and an average of both would describe neither.
std::string run_summary(const RunResult& result);

// Inter-token latencies in seconds; all 0 if there are none.
struct LatencySummary {
    double median = 0, last = 0, least = 0, most = 0;
};
LatencySummary summarize(std::vector<double> seconds);

}  // namespace kvtape
