#include "viewer/latencies.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvtape {
namespace {

std::optional<double> median(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) return std::nullopt;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// A lane without the sequence shows the first that it has.
std::int32_t sequence_of(const LaneHistory& lane, std::int32_t wanted) {
    const std::vector<std::int32_t>& there = lane.sequences();
    const bool has_it = std::find(there.begin(), there.end(), wanted) != there.end();
    return has_it || there.empty() ? wanted : there.front();
}

}  // namespace

Latencies latencies_of(const LaneHistory& lane, std::int32_t sequence) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    Latencies latencies;
    bool begun = false;
    std::int64_t waited_ns = 0;  // since the request or the last token
    for (std::int64_t step = 0; step < lane.steps(); ++step) {
        const SpanRecord* span = lane.span(step, sequence);
        begun = begun || span != nullptr;
        if (begun) waited_ns += lane.step(step).wall_ns;
        latencies.between_s.push_back(none);
        latencies.positions.push_back(
            span == nullptr ? none
                            : static_cast<double>(span->first_position + std::ssize(span->tokens)));
        if (span == nullptr || span->sampled.empty()) continue;
        if (latencies.first_token_s) {
            latencies.between_s.back() = static_cast<double>(waited_ns) * 1e-9;
        } else {
            latencies.first_token_s = static_cast<double>(waited_ns) * 1e-9;
        }
        waited_ns = 0;
    }
    latencies.median_s = median(latencies.between_s);
    return latencies;
}

void LatencyView::update(const std::vector<std::unique_ptr<LaneHistory>>& lanes,
                         std::int32_t sequence) {
    if (sequence != sequence_) lanes_.clear();
    sequence_ = sequence;
    lanes_.resize(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (std::ssize(lanes_[i].positions) != lanes[i]->steps()) {
            lanes_[i] = latencies_of(*lanes[i], sequence_of(*lanes[i], sequence));
        }
    }
}

}  // namespace kvtape
