#include "cli/cache_options.h"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/number_options.h"
#include "cli/units.h"
#include "core/check.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

constexpr std::int64_t largest_block_size = 1 << 20;
constexpr std::int64_t most_blocks = std::int64_t{1} << 40;

bool is_fp8(KvDtype dtype) {
    return bytes_per_element(dtype) == 1;
}

// Blocks of the pool: as asked for, as many as the memory holds, or enough for one sequence.
std::int64_t pool_blocks(const CacheOptions& options, const ModelShape& shape,
                         std::int64_t tokens) {
    if (options.blocks) return *options.blocks;
    if (!options.memory) return ceil_div(tokens, options.block_size);
    const std::int64_t bytes = parse_bytes("--kv-cache-memory-bytes", *options.memory);
    const std::int64_t block_bytes =
        kv_bytes_per_block(shape, parse_kv_dtype(options.dtype), options.block_size);
    if (bytes < block_bytes) {
        fail("--kv-cache-memory-bytes is ", bytes, ", one block of ", options.block_size,
             " tokens needs ", block_bytes,
             " bytes; allow more memory, or use a smaller "
             "--block-size");
    }
    // More blocks than one sequence can fill would never be touched.
    return std::min(bytes / block_bytes, ceil_div(tokens, options.block_size));
}

}  // namespace

void add_cache_options(CLI::App& verb, CacheOptions& options) {
    verb.add_option("--kv-cache-dtype", options.dtype,
                    "number format of the stored rows: f32, f16, bf16, fp8_e4m3 (or fp8), fp8_e5m2")
        ->type_name("DTYPE")
        ->capture_default_str();
    add_number(verb, "--kv-scale", options.scale, "fp8 stores value / scale (default: 1)")
        ->type_name("X");
    add_number(verb, "--block-size", options.block_size, "tokens per block of the paged cache")
        ->type_name("B");
    CLI::Option* const blocks =
        add_number(verb, "--blocks", options.blocks,
                   "blocks in the pool of the paged cache (default: enough for one sequence)")
            ->type_name("N");
    verb.add_option("--kv-cache-memory-bytes", options.memory,
                    "memory for the cache, such as 64MiB; it caps the length of the sequence")
        ->type_name("BYTES")
        ->excludes(blocks);
}

void check(const CacheOptions& options) {
    const KvDtype dtype = parse_kv_dtype(options.dtype);
    check_between("--block-size", options.block_size, 1, largest_block_size);
    if (options.blocks) check_between("--blocks", *options.blocks, 1, most_blocks);
    if (options.memory) parse_bytes("--kv-cache-memory-bytes", *options.memory);
    if (!options.scale) return;
    if (!is_fp8(dtype)) {
        fail("--kv-scale is for fp8_e4m3 and fp8_e5m2; ", name(dtype),
             " stores values as they are");
    }
    // In this range neither the quotient nor the product of a value and the scale leaves the
    // floats.
    if (!(*options.scale >= 0x1p-100f && *options.scale <= 0x1p100f)) {
        fail("--kv-scale is ", *options.scale, "; use a number from 2^-100 to 2^100");
    }
}

LengthLimit cache_length_limit(const CacheOptions& options, const ModelShape& shape,
                               LengthLimit limit, const std::vector<std::string>& kinds) {
    check(options);
    const std::int64_t max_model_len = limit.tokens;
    if (options.memory) {
        limit = limit_by_memory(limit, parse_bytes("--kv-cache-memory-bytes", *options.memory),
                                kv_bytes_per_token(shape, parse_kv_dtype(options.dtype)));
    }
    const bool paged = std::find(kinds.begin(), kinds.end(), "paged") != kinds.end();
    if (paged && (options.blocks || options.memory)) {
        const std::int64_t blocks = pool_blocks(options, shape, max_model_len);
        const std::int64_t tokens =
            checked_product(blocks, options.block_size, "blocks and block size");
        if (tokens < limit.tokens) {
            limit = {tokens,
                     "the pool's " + counted(blocks, "block") + " of " +
                         counted(options.block_size, "token"),
                     "allow more blocks"};
        }
    }
    return limit;
}

std::unique_ptr<KvCache> make_cache(const std::string& kind, const CacheOptions& options,
                                    const ModelShape& shape, const LengthLimit& limit,
                                    const Request& request) {
    const KvDtype dtype = parse_kv_dtype(options.dtype);
    const float scale = options.scale.value_or(1.0f);
    if (kind == "none") {
        // A request that does not fit is refused by the decoder; here it must not ask for memory.
        const std::int64_t room = limit.tokens - std::min(std::ssize(request.prompt), limit.tokens);
        const std::int64_t longest =
            limit.tokens - room +
            std::clamp<std::int64_t>(request.max_tokens.value_or(room), 0, room);
        return std::make_unique<NoCache>(shape, dtype, std::max<std::int64_t>(longest, 1), scale);
    }
    if (kind == "contiguous") {
        return std::make_unique<ContiguousCache>(shape, dtype, limit.tokens, scale);
    }
    if (kind == "paged") {
        auto cache = std::make_unique<PagedCache>(shape, dtype, options.block_size,
                                                  pool_blocks(options, shape, limit.tokens), scale);
        if (options.used_pool_seed) cache->shuffle_free_blocks(*options.used_pool_seed);
        return cache;
    }
    fail("unknown cache '", kind, "'; use none, contiguous or paged");
}

std::string loss_warning(const CacheOptions& options, const StoreCounts& losses) {
    const KvDtype dtype = parse_kv_dtype(options.dtype);
    std::string text;
    const std::string worst =
        "; largest relative error " + decimal(static_cast<double>(losses.worst_relative_error), 4);
    if (is_fp8(dtype) && !options.scale) {
        text = std::string("no --kv-scale given for ") + name(dtype) +
               ", so the scale is 1: " + with_commas(losses.saturated) +
               " stored values saturated" + worst;
    } else if (losses.saturated > 0) {
        text = with_commas(losses.saturated) + " values saturated in the " + name(dtype) +
               " cache" + worst;
    }
    if (losses.saturated > 0) text += "; a larger --kv-scale avoids it";
    if (losses.non_finite > 0) {
        if (!text.empty()) text += "; ";
        text += with_commas(losses.non_finite) + " values were stored as infinity or NaN in the " +
                name(dtype) + " cache";
        if (!is_fp8(dtype)) text += "; another --kv-cache-dtype has more range";
    }
    return text;
}

}  // namespace kvtape
