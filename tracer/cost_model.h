// The closed forms: what a forward pass must cost, from the shapes alone (convention:
// tracer/flops.h). The kernels count what they execute; tests, `kvtape arithmetic` and `kvtape
// inspect --verify` demand that both are equal as integers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kv_dtype.h"
#include "core/shape.h"
#include "tracer/flops.h"

namespace kvtape {

// Keys per split of the attention sum. Splits are counted from position 0 of the sequence, never
// from the batch or the chunk, so that a row's sum has one order, whoever computes it.
inline constexpr std::int64_t attention_split = 64;

// What one sequence contributed to a pass.
struct SpanCost {
    std::int64_t first_position;  // of the first token computed
    std::int64_t tokens;          // tokens computed
    std::int64_t logit_rows;      // rows for which logits were computed
};

// FLOPs of one pass over these spans. Query p sees p + 1 keys.
//
//   projections  2 d (2 H D + 2 G D) per token and layer        (Q, K, V, output)
//   mlp          6 d F per token and layer                      (gate, up, down)
//   attention    4 D per (query head, key)                      (q.k with its scale, p.v)
//   head         2 d V per row of logits
//   softmax      per (query head) with n keys in s splits: 3 n - s + (s - 1)(7 + 3 D) + 1 + D
//   norm         4 d + 3 per row: two per token and layer, one per row of logits
//   rope         3 D per row of q and k
//   activation   4 F per token and layer                        (SiLU, product with up)
//   residual     2 d per token and layer
FlopCounts expected_flops(const ModelShape& shape, const std::vector<SpanCost>& spans);

// Bytes of K and V that one token adds to the cache: 2 L G D * bytes per element.
std::int64_t kv_bytes_per_token(const ModelShape& shape, KvDtype dtype);

// Bytes of one block of the paged cache, all layers.
std::int64_t kv_bytes_per_block(const ModelShape& shape, KvDtype dtype, std::int64_t block_size);

// Rows of K and V written for one token: 2 L G.
std::int64_t kv_rows_per_token(const ModelShape& shape);

// Rows fetched by the queries of a span: 2 L G per (query, visible key).
std::int64_t kv_rows_fetched(const ModelShape& shape, const SpanCost& span);

}  // namespace kvtape
