// From what a device has to what is left for the cache, and from there to blocks and tokens. A
// budget below zero is refused with every term; nothing wraps around to a huge number of blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kvtape {

// In GiB, as GPUs are sold and as vLLM's log counts.
struct MemoryTerms {
    double total = 0;
    double fraction = 1;  // of the total that may be used (vLLM's gpu_memory_utilization)
    double weights = 0;
    double activations = 0;
    double other = 0;
};

// Bytes left for the cache: total * fraction - weights - activations - other. Throws Error with all
// terms and the shortfall if that is negative, or if a term is.
std::int64_t bytes_left_for_cache(const MemoryTerms& terms);

// What a budget holds. Always rounded down: half a block is no block.
struct Capacity {
    std::int64_t blocks = 0;  // 0 if the cache is not paged
    std::int64_t tokens = 0;
    std::int64_t bytes_unused = 0;
};

// Throws Error if not even one block (or one token, without blocks) fits.
Capacity capacity_of(std::int64_t budget_bytes, std::int64_t bytes_per_token,
                     std::optional<std::int64_t> block_size);

// Throws Error, with the tokens needed and the tokens that fit, unless `sequences` sequences of
// `tokens` tokens fit.
void check_fits(const Capacity& capacity, std::int64_t tokens, std::int64_t sequences,
                std::optional<std::int64_t> block_size);

// "1 sequence of 31 tokens" that fits alone, in words.
std::string longest_sequence(const Capacity& capacity);

}  // namespace kvtape
