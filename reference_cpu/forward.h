// The decoder: one function for prefill, decode, chunked prefill and batches. They differ only in
// how many tokens of which sequences are given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/number_format.h"
#include "reference_cpu/kv_cache.h"
#include "reference_cpu/model.h"
#include "reference_cpu/team.h"

namespace kvtape {

// New tokens of one sequence, which has one span in a pass.
struct Span {
    SequenceId sequence;
    std::int64_t first_position;           // of tokens[0]; must be cache.length(sequence)
    std::span<const std::int32_t> tokens;  // (n_new), at least one
    std::int64_t logit_rows = 1;           // logits for the last so many tokens, 0 .. n_new
};

template <class Scalar>
struct PassResult {
    std::vector<Scalar> logits;       // (sum of logit_rows, V), spans in order, positions ascending
    std::vector<StoreCounts> losses;  // (L), what rounding to the cache's dtype did
};

// Computes the tokens of all spans, stores their K and V rows in the cache and returns logits. A
// row of logits has the same bits whatever else is in the batch, however the tokens were cut into
// passes, whichever cache holds the rows, and for any number of threads.
//
//   tracer   NullTracer, Recorder, or another type with the same members (tracer/recorder.h), with
//            at least team.size() workers
//
// Throws Error for a token id outside the vocabulary, a position beyond max_model_len, or a cache
// without room for the whole batch; the cache is then as it was, and a smaller batch can be tried.
template <class Scalar, class Tracer>
PassResult<Scalar> forward(const Model<Scalar>& model, const std::vector<Span>& spans,
                           KvCache& cache, Tracer& tracer, Team& team);

}  // namespace kvtape
