// The alphabet. Every array in kvtape has its shape written beside it in these letters, and every
// letter is a field here:
//
//   L layers    transformer blocks            d hidden   width of the residual stream
//   H heads     query heads                   F ffn      hidden width of the MLP
//   G kv_heads  key/value heads               V vocab    number of token ids
//   D head_dim  length of one head's vector   T length   tokens in a sequence
//   B block_size  tokens per block of the paged cache
#pragma once

#include <cstdint>

namespace kvtape {

struct ModelShape {
    std::int64_t layers = 0;    // L
    std::int64_t hidden = 0;    // d
    std::int64_t heads = 0;     // H
    std::int64_t kv_heads = 0;  // G: H for multi-head, 1 for multi-query, between for grouped-query
    std::int64_t head_dim = 0;  // D: often d / H, but a property of its own
    std::int64_t ffn = 0;       // F
    std::int64_t vocab = 0;     // V

    // Query heads that share one KV head: head h reads KV head h / group_size().
    std::int64_t group_size() const { return heads / kv_heads; }

    friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// Throws Error, naming both numbers, unless every size is positive, H is a multiple of G and D is
// even (RoPE turns pairs).
void validate(const ModelShape& shape);

}  // namespace kvtape
