// How runs are written on a tape. Most steps do the same in every layer, KV head and kind: a decode
// step of a model with 5 layers and 2 KV heads makes 20 write runs that differ in nothing else. A
// box tells them at once: the fields they share, and a range for each of the three that differ.
// Boxes unfold to exactly the runs they were folded from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tracer/run.h"

namespace kvtape {

template <class Run>  // WriteRun or ReadRun
struct RunBox {
    enum Side : std::uint8_t { layer, kv_head, kind };  // kinds: key = 0, value = 1

    Run shared;  // with layer 0, kv_head 0 and kind key; heads count from the first of their group
    std::array<std::int64_t, 3> begin;  // indexed by Side
    std::array<std::int64_t, 3> end;

    std::int64_t runs() const {
        return (end[layer] - begin[layer]) * (end[kv_head] - begin[kv_head]) *
               (end[kind] - begin[kind]);
    }
    friend auto operator<=>(const RunBox&, const RunBox&) = default;
};

// `group_size` is ModelShape::group_size(). The boxes are sorted.
template <class Run>
std::vector<RunBox<Run>> fold(const std::vector<Run>& runs, std::int64_t group_size);

// The runs are sorted.
template <class Run>
std::vector<Run> unfold(const std::vector<RunBox<Run>>& boxes, std::int64_t group_size);

}  // namespace kvtape
