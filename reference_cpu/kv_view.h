// The only door to the rows of a cache. It converts between float and the cache's dtype, asks the
// cache where a row lies, and tells the tracer about every row stored and every row fetched. A
// kernel that uses the view is traced without a word about tracing in its text.
//
// With NullTracer the reports are empty inline functions and leave no instruction behind
// (tests/reference_cpu/null_tracer.sh).
#pragma once

#include <algorithm>
#include <vector>

#include "core/number_format.h"
#include "reference_cpu/kv_cache.h"
#include "tracer/cost_model.h"
#include "tracer/recorder.h"

namespace kvtape {

// Rows that lie one behind the other.
struct Rows {
    const float* data;   // (count, D)
    std::int64_t count;  // at least 1
};

// One per worker thread and pass.
template <class Tracer>
class KvView {
  public:
    KvView(KvCache& cache, typename Tracer::Worker& tracer)
        : cache_(cache),
          tracer_(tracer),
          decoded_(static_cast<std::size_t>(attention_split * cache.shape().head_dim)),
          losses_(static_cast<std::size_t>(cache.shape().layers)) {}

    // Stores one row, rounding each number once to the cache's dtype.
    void store(const RowKey& key, std::int64_t position, const float* row /* (D) */) {
        const auto place = cache_.place(key, position);
        encode_row(cache_.dtype(), row, cache_.shape().head_dim, cache_.scale(), place.row,
                   losses_[static_cast<std::size_t>(key.layer)]);
        tracer_.write({key.sequence, key.layer, key.kv_head, key.kind, position, place.slot},
                      place.row, cache_.row_bytes());
    }

    // Fetches rows [first, first + count) for the query heads that share this KV head, where count
    // is as many of the rows below `end` as lie together, at most `attention_split`. The data stay
    // valid until the next fetch.
    Rows fetch(const RowKey& key, std::int64_t query, std::int64_t first, std::int64_t end) {
        const auto place = cache_.place(key, first);
        const std::int64_t count = std::min({place.rows_together, end - first, attention_split});
        const auto group = static_cast<std::int32_t>(cache_.shape().group_size());
        tracer_.read({key.sequence, key.layer, key.kv_head, key.kv_head * group,
                      (key.kv_head + 1) * group, key.kind, query, query + 1, first, first + count,
                      false});
        if (cache_.dtype() == KvDtype::f32) {
            return {reinterpret_cast<const float*>(place.row), count};
        }
        decode_row(cache_.dtype(), place.row, count * cache_.shape().head_dim, cache_.scale(),
                   decoded_.data());
        return {decoded_.data(), count};
    }

    // What storing did to the values so far, by layer.
    const std::vector<StoreCounts>& losses() const { return losses_; }

  private:
    KvCache& cache_;
    typename Tracer::Worker& tracer_;
    std::vector<float> decoded_;       // (attention_split, D)
    std::vector<StoreCounts> losses_;  // (L)
};

}  // namespace kvtape
