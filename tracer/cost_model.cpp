#include "tracer/cost_model.h"

namespace kvtape {
namespace {

// Sum of the integers in [begin, end).
std::int64_t sum_of_range(std::int64_t begin, std::int64_t end) {
    return (end * (end - 1) - begin * (begin - 1)) / 2;
}

// Sum over n in [1, last] of ceil(n / attention_split): full splits first, then the rest.
std::int64_t splits_up_to(std::int64_t last) {
    const std::int64_t full = last / attention_split;
    const std::int64_t rest = last % attention_split;
    return attention_split * full * (full + 1) / 2 + rest * (full + 1);
}

// (query, key) pairs of a span: query p sees p + 1 keys.
std::int64_t visible_pairs(const SpanCost& span) {
    return sum_of_range(span.first_position + 1, span.first_position + span.tokens + 1);
}

}  // namespace

FlopCounts expected_flops(const ModelShape& s, const std::vector<SpanCost>& spans) {
    FlopCounts flops;
    for (const SpanCost& span : spans) {
        const std::int64_t n = span.tokens;
        const std::int64_t pairs = visible_pairs(span);
        const std::int64_t q_and_kv = 2 * s.heads * s.head_dim + 2 * s.kv_heads * s.head_dim;
        // [lesson:closed-forms]
        flops[Component::projections] += s.layers * n * 2 * s.hidden * q_and_kv;
        flops[Component::mlp] += s.layers * n * 6 * s.hidden * s.ffn;
        flops[Component::attention] += s.layers * s.heads * pairs * 4 * s.head_dim;
        flops[Component::head] += span.logit_rows * 2 * s.hidden * s.vocab;
        // [/lesson]
        const std::int64_t splits =
            splits_up_to(span.first_position + n) - splits_up_to(span.first_position);
        const std::int64_t merges = splits - n;
        flops[Component::softmax] +=
            s.layers * s.heads *
            (3 * pairs - splits + merges * (7 + 3 * s.head_dim) + n * (1 + s.head_dim));
        flops[Component::norm] += (s.layers * 2 * n + span.logit_rows) * (4 * s.hidden + 3);
        flops[Component::rope] += s.layers * n * (s.heads + s.kv_heads) * 3 * s.head_dim;
        flops[Component::activation] += s.layers * n * 4 * s.ffn;
        flops[Component::residual] += s.layers * n * 2 * s.hidden;
    }
    return flops;
}

std::int64_t kv_bytes_per_token(const ModelShape& shape, KvDtype dtype) {
    // [lesson:footprint]
    return kv_rows_per_token(shape) * shape.head_dim * bytes_per_element(dtype);
    // [/lesson]
}

std::int64_t kv_bytes_per_block(const ModelShape& shape, KvDtype dtype, std::int64_t block_size) {
    return kv_bytes_per_token(shape, dtype) * block_size;
}

std::int64_t kv_rows_per_token(const ModelShape& shape) {
    return 2 * shape.layers * shape.kv_heads;
}

std::int64_t kv_rows_fetched(const ModelShape& shape, const SpanCost& span) {
    return kv_rows_per_token(shape) * visible_pairs(span);
}

}  // namespace kvtape
