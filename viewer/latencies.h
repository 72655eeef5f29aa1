// What the latency panel draws: how long the tokens of a sequence took. Two numbers, never one
// average: the first token waits for all of prefill, each later one for the step that made it and
// whatever ran before that step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/lane_history.h"

namespace kvtape {

// Times in seconds.
struct Latencies {
    // TTFT: from the sequence's first step through the step that sampled its first token.
    std::optional<double> first_token_s;
    // ITL: from one sampled token to the next; NaN for steps that sampled none after another.
    std::vector<double> between_s;  // (steps)
    std::optional<double> median_s;
    // Tokens of the sequence that are there once the step has run: what its last query reads. NaN
    // for steps in which the sequence took no part.
    std::vector<double> positions;  // (steps)
};
Latencies latencies_of(const LaneHistory& lane, std::int32_t sequence);

// The latencies as they were computed for a sequence.
struct LatencyView {
    bool log = false;

    // Computes what is not up to date.
    void update(const std::vector<std::unique_ptr<LaneHistory>>& lanes, std::int32_t sequence);
    void clear() { lanes_.clear(); }
    const std::vector<Latencies>& lanes() const { return lanes_; }

  private:
    std::vector<Latencies> lanes_;
    std::int32_t sequence_ = -1;
};

}  // namespace kvtape
