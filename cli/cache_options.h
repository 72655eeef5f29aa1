// How the cache is built: its number format, its blocks, its memory. The names are vLLM's where
// vLLM has the knob.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "core/kv_dtype.h"
#include "core/number_format.h"
#include "reference_cpu/kv_cache.h"
#include "reference_cpu/request.h"

namespace kvtape {

struct CacheOptions {
    std::string dtype = "f32";
    std::optional<float> scale;          // fp8 only
    std::int64_t block_size = 16;        // B, paged only
    std::optional<std::int64_t> blocks;  // of the pool, paged only; absent: enough for one sequence
    std::optional<std::string> memory;   // bytes for the cache, with or without a unit
    // No option: the demo shows a pool that has been in use (BlockPool::shuffle_free_blocks).
    std::optional<std::uint64_t> used_pool_seed = std::nullopt;
};

// Adds --kv-cache-dtype, --kv-scale, --block-size, --blocks and --kv-cache-memory-bytes.
void add_cache_options(CLI::App& verb, CacheOptions& options);

// Throws Error for the first option that is out of range.
void check(const CacheOptions& options);

// The longest sequence that all caches of these kinds ("none", "contiguous", "paged") can serve:
// `limit`, or less.
LengthLimit cache_length_limit(const CacheOptions& options, const ModelShape& shape,
                               LengthLimit limit, const std::vector<std::string>& kinds);

// An empty cache for one sequence of up to `limit.tokens` tokens. The contiguous cache reserves
// that much, as such caches do; the one that forgets needs room for one pass, which has at most as
// many tokens as prompt and max_tokens together.
std::unique_ptr<KvCache> make_cache(const std::string& kind, const CacheOptions& options,
                                    const ModelShape& shape, const LengthLimit& limit,
                                    const Request& request);

// What storing did to the values, for the user to see: a line if an fp8 cache has no scale, if
// values saturated, or if some were stored as infinity or NaN. Empty if there is nothing to say.
std::string loss_warning(const CacheOptions& options, const StoreCounts& losses);

}  // namespace kvtape
