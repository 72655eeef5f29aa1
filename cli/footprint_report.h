// What `kvtape footprint` says: every number in bytes, and in GB and GiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/json_values.h"
#include "cli/memory_budget.h"
#include "core/kv_dtype.h"
#include "reference_cpu/config.h"

namespace kvtape {

struct Footprint {
    KvFootprintInput sizes;  // heads is 0 if it is not known
    KvDtype dtype;
    std::int64_t bytes_per_token;
    std::optional<std::int64_t> block_size;  // B; none if the cache is not paged
    std::optional<Capacity> capacity;        // of the given memory, if any
    std::optional<std::int64_t> tokens;      // per sequence
    std::int64_t sequences = 1;

    // 2 L G D * bytes per element. Throws Error if that is beyond any real model.
    static std::int64_t per_token(const KvFootprintInput& sizes, KvDtype dtype);
    std::int64_t bytes_per_block() const;
    // Blocks of one sequence of `tokens` tokens; the last may be partly used.
    std::int64_t blocks_per_sequence() const;
    // Bytes held for one sequence: whole blocks if paged.
    std::int64_t bytes_per_sequence() const;
    // Bytes that a decode step reads when the sequence has `tokens` tokens: each row once.
    std::int64_t bytes_read_by_a_step() const;

    std::string text() const;
    Json json() const;
};

}  // namespace kvtape
