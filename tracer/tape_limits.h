// What a tape may hold. The limits are far above any real recording; they exist so that a damaged
// or hostile file is refused before it costs memory or hours. Whatever the file says,
//
//   reading             needs at most about 1 GiB, and a few hundred KiB for an ordinary tape: one
//                       record is in memory at a time;
//   tracer/verify.h     keeps, beside that, who holds which block: at most about 35 bytes for each
//                       byte of the file;
//   tracer/playback.h   keeps the same with its past, at most about 60 bytes for each byte of the
//                       file, and the stretches of one lane, at most about 1.5 GiB.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tracer/cost_model.h"

namespace kvtape {

inline constexpr std::int64_t max_record_bytes = std::int64_t{64} << 20;  // one header or one step
inline constexpr std::int64_t max_record_values = std::int64_t{8} << 20;  // numbers, strings, lists
inline constexpr std::int64_t max_record_depth = 16;                      // lists within lists
inline constexpr std::int64_t max_object_keys = 64;                       // unknown ones included
inline constexpr std::int64_t max_runs_per_step = std::int64_t{4} << 20;  // writes; reads as well
inline constexpr std::int64_t max_rows_per_token = std::int64_t{1} << 16;   // 2 L G
inline constexpr std::int64_t max_blocks_per_step = std::int64_t{1} << 24;  // over all write runs
inline constexpr std::int64_t max_stretches = std::int64_t{8} << 20;  // of a lane: tracer/track.h
inline constexpr std::int64_t max_lanes = 256;
inline constexpr std::int64_t max_position = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t max_slot = std::int64_t{1} << 40;
inline constexpr std::int64_t max_count = std::int64_t{1} << 58;  // FLOPs, bytes, ns, rows

// Whether the numbers of the rows of `tokens` tokens fit into one record, in two digits a byte.
// Half of the record is left to the rest.
inline bool row_values_fit(const ModelShape& shape, KvDtype dtype, std::int64_t tokens) {
    return kv_bytes_per_token(shape, dtype) <=
           max_record_bytes / 4 / std::max<std::int64_t>(tokens, 1);
}

}  // namespace kvtape
