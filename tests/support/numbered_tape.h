// Synthetic tapes that hold the numbers of their rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/synthetic_tape.h"
#include "core/number_format.h"
#include "viewer/lane_history.h"
#include "viewer/track_image.h"

namespace kvtape {

// The value of number `i` of the row at `position`, a different one for every track.
inline float numbered(const TrackId& track, std::int64_t position, std::int64_t i) {
    const float base = static_cast<float>(track.layer * 4 + track.kv_head * 2) +
                       (track.kind == Kind::value ? 1.0f : 0.0f);
    return (i % 2 == 0 ? 1.0f : -1.0f) *
           (base + static_cast<float>(position) / 16 + static_cast<float>(i));
}

// Lists the rows at [begin, end) of all tracks in a step.
inline void list_rows(Step& step, const ModelShape& shape, KvDtype dtype, float scale,
                      std::int64_t begin, std::int64_t end) {
    for (std::int64_t t = 0; t < track_count(shape); ++t) {
        const TrackId track = track_id(shape, t);
        StoredRows rows{0, track.layer, track.kv_head, track.kind, begin, {}};
        for (std::int64_t p = begin; p < end; ++p) {
            std::vector<float> values;
            for (std::int64_t i = 0; i < shape.head_dim; ++i) {
                values.push_back(numbered(track, p, i));
            }
            std::string codes(static_cast<std::size_t>(shape.head_dim * bytes_per_element(dtype)),
                              '\0');
            StoreCounts counts;
            encode_row(dtype, values.data(), shape.head_dim, scale,
                       reinterpret_cast<std::byte*>(codes.data()), counts);
            rows.codes += codes;
        }
        step.rows.push_back(rows);
    }
}

// The whole of a lane. Each row is listed in the step that computed it first, as a recorder does.
inline LaneHistory numbered_history(const SyntheticTape& tape, std::int32_t lane,
                                    KvDtype dtype = KvDtype::f32, float scale = 1) {
    TapeHeader header = tape.header();
    header.lanes[static_cast<std::size_t>(lane)].kv_cache_dtype = dtype;
    header.lanes[static_cast<std::size_t>(lane)].kv_scale = scale;
    LaneHistory history(header, lane);
    for (std::int64_t index = 0; index < tape.steps(); ++index) {
        Step step = tape.step(lane, index);
        const std::int64_t end = tape.prompt + index;
        list_rows(step, tape.shape, dtype, scale, index == 0 ? 0 : end - 1, end);
        history.add(step);
    }
    return history;
}

}  // namespace kvtape
