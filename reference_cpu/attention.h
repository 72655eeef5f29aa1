// Attention of one query over the rows of a cache: softmax(scale * q K^T) V, one query at a time.
//
// The sum over keys has one order, whatever the cache, the chunk or the batch: keys are taken in
// splits of `attention_split`, counted from position 0 of the sequence. Each split is summed by
// itself and the partial results are merged in split order (the online softmax of Milakov and
// Gimelshein 2018, arXiv 1805.02867, as FlashAttention uses it). Paging changes where a row lies,
// never the order of the sum. On a GPU the splits of one query can run side by side; that is why
// the order is not simply left to right.
//
// Query p sees the keys 0..p and no others, also when the whole sequence is computed in one pass.
// The mask is this loop bound: rows beyond it are not multiplied by zero, they are not touched.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/check.h"
#include "core/exact_math.h"
#include "reference_cpu/kv_view.h"
#include "reference_cpu/lanes.h"
#include "reference_cpu/team.h"

namespace kvtape {

// A softmax-weighted sum over some of the keys, not yet divided by its weight. With `maximum` the
// largest score of these keys:
//
//   weight = sum exp(score - maximum)      value = sum exp(score - maximum) v
template <class Scalar>
struct PartialAttention {
    std::int64_t keys = 0;  // 0: nothing seen yet, and the other members mean nothing
    Scalar maximum = 0;
    Scalar weight = 0;
    Scalar* value = nullptr;  // (D)
};

// Adds the keys of `part` to `into`. A part without keys is skipped: exp(-inf - -inf) would be NaN.
template <class Scalar>
void merge(PartialAttention<Scalar>& into, const PartialAttention<Scalar>& part,
           std::int64_t head_dim) {
    using std::fma;
    if (part.keys == 0) return;
    if (into.keys == 0) {
        into.maximum = part.maximum;
        into.weight = part.weight;
        for (std::int64_t i = 0; i < head_dim; ++i) into.value[i] = part.value[i];
    } else {
        const Scalar maximum = into.maximum < part.maximum ? part.maximum : into.maximum;
        const Scalar keep = exact_exp(into.maximum - maximum);
        const Scalar add = exact_exp(part.maximum - maximum);
        into.maximum = maximum;
        into.weight = fma(part.weight, add, into.weight * keep);
        for (std::int64_t i = 0; i < head_dim; ++i) {
            into.value[i] = fma(part.value[i], add, into.value[i] * keep);
        }
    }
    into.keys += part.keys;
}

// Working memory of `attend`, one per worker.
template <class Scalar>
class AttentionScratch {
  public:
    AttentionScratch(const ModelShape& shape, std::int64_t split = attention_split)
        : split_size(split),
          scores(static_cast<std::size_t>(shape.heads * split)),
          values(static_cast<std::size_t>(shape.heads * shape.head_dim)),
          parts(static_cast<std::size_t>(shape.heads)),
          sums(static_cast<std::size_t>(shape.heads)) {}

    std::int64_t split_size;                      // keys per split; tests also try others
    std::vector<Scalar> scores;                   // (H, split_size), then the weights of the keys
    std::vector<Scalar> values;                   // (H, D), of the split in progress
    std::vector<PartialAttention<Scalar>> parts;  // (H), the split in progress
    std::vector<PartialAttention<Scalar>> sums;   // (H), all splits so far
};

// What one call attends to.
struct Attend {
    SequenceId sequence;
    std::int32_t layer;
    std::int64_t query;         // position of the query
    std::int64_t visible_keys;  // it sees [0, visible_keys): query + 1 under the causal mask
    Range kv_heads;             // the KV heads, and so the groups of query heads, to compute
    float scale;                // usually 1 / sqrt(D)
};

// Turns the scores of one split into weights exp(score - maximum) and their sum.
template <class Scalar>
PartialAttention<Scalar> softmax_of_split(Scalar* scores /* (keys) */, std::int64_t keys) {
    PartialAttention<Scalar> part;
    part.keys = keys;
    part.maximum = scores[0];
    for (std::int64_t j = 1; j < keys; ++j) {
        if (part.maximum < scores[j]) part.maximum = scores[j];
    }
    for (std::int64_t j = 0; j < keys; ++j) scores[j] = exact_exp(scores[j] - part.maximum);
    part.weight = sum(scores, keys);
    return part;
}

// Computes out[h] = softmax(scale * q[h] K^T) V for the query heads of a range of KV heads. Blocks
// are the outer loop and heads the inner one: the rows of a block's heads are neighbours in memory.
template <class Scalar, class Tracer>
void attend(KvView<Tracer>& view, const ModelShape& shape, const Attend& what,
            const Scalar* q,  // (H, D)
            Scalar* out,      // (H, D)
            AttentionScratch<Scalar>& scratch) {
    using std::fma;
    const std::int64_t D = shape.head_dim;
    const std::int64_t group = shape.group_size();
    const std::int64_t head_begin = what.kv_heads.begin * group;
    const std::int64_t head_end = what.kv_heads.end * group;
    KVTAPE_CHECK(what.visible_keys, >=, 1);  // a query without keys has no answer
    const auto key_of = [&](std::int64_t kv_head, Kind kind) {
        return RowKey{what.sequence, what.layer, static_cast<std::int32_t>(kv_head), kind};
    };
    for (std::int64_t h = head_begin; h < head_end; ++h) {
        scratch.sums[h] = {};
        scratch.sums[h].value = out + h * D;
    }

    for (std::int64_t split = 0; split < what.visible_keys; split += scratch.split_size) {
        const std::int64_t end = std::min(split + scratch.split_size, what.visible_keys);

        // Score every key of the split.
        for (std::int64_t position = split, count = 0; position < end; position += count) {
            for (std::int64_t g = what.kv_heads.begin; g < what.kv_heads.end; ++g) {
                const Rows keys = view.fetch(key_of(g, Kind::key), what.query, position, end);
                count = keys.count;
                // [lesson:group-shares-a-fetch]
                for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
                    Scalar* score = &scratch.scores[h * scratch.split_size + position - split];
                    for (std::int64_t j = 0; j < count; ++j) {
                        score[j] = dot(q + h * D, keys.data + j * D, D) * Scalar(what.scale);
                    }
                }
                // [/lesson]
            }
        }

        // Turn scores into weights.
        for (std::int64_t h = head_begin; h < head_end; ++h) {
            scratch.parts[h] =
                softmax_of_split(&scratch.scores[h * scratch.split_size], end - split);
            scratch.parts[h].value = &scratch.values[h * D];
            std::fill_n(scratch.parts[h].value, D, Scalar(0));
        }

        // Add up the values, weighted.
        for (std::int64_t position = split, count = 0; position < end; position += count) {
            for (std::int64_t g = what.kv_heads.begin; g < what.kv_heads.end; ++g) {
                const Rows values = view.fetch(key_of(g, Kind::value), what.query, position, end);
                count = values.count;
                for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
                    const Scalar* weight =
                        &scratch.scores[h * scratch.split_size + position - split];
                    Scalar* sum = scratch.parts[h].value;
                    for (std::int64_t j = 0; j < count; ++j) {
                        const float* value = values.data + j * D;
                        for (std::int64_t i = 0; i < D; ++i) {
                            sum[i] = fma(weight[j], Scalar(value[i]), sum[i]);
                        }
                    }
                }
            }
        }

        for (std::int64_t h = head_begin; h < head_end; ++h) {
            merge(scratch.sums[h], scratch.parts[h], D);
        }
    }

    // Divide by the sum of the weights.
    for (std::int64_t h = head_begin; h < head_end; ++h) {
        const Scalar one_over_weight = Scalar(1) / scratch.sums[h].weight;
        for (std::int64_t i = 0; i < D; ++i) out[h * D + i] = out[h * D + i] * one_over_weight;
    }
}

}  // namespace kvtape
