// What the tape holds: one header, then one Step per forward pass. These structs are the meaning of
// a tape; tracer/tape_format.h is their spelling in JSON and CBOR.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/kv_dtype.h"
#include "core/shape.h"
#include "tracer/flops.h"
#include "tracer/run.h"

namespace kvtape {

// One decoder on one back end with one cache. A tape with three lanes shows three decoders side by
// side on the same prompt.
struct Lane {
    std::string name;     // unique within the tape, for example "paged"
    std::string backend;  // "cpu"
    std::string cache;    // "none", "contiguous" or "paged"
    KvDtype kv_cache_dtype = KvDtype::f32;
    std::int64_t block_size = 0;  // B, 0 unless paged
    std::int64_t blocks = 0;      // blocks in the pool, 0 unless paged
    float kv_scale = 1;           // a stored code stands for code * kv_scale

    friend bool operator==(const Lane&, const Lane&) = default;
};

struct TapeHeader {
    std::string model;  // name of the model, not a path of this machine
    ModelShape shape;
    std::int64_t max_model_len = 0;
    std::vector<Lane> lanes;

    friend bool operator==(const TapeHeader&, const TapeHeader&) = default;
};

enum class Phase : std::uint8_t { prefill, decode };
const char* name(Phase phase);

// A token and the exact bytes it stands for, which may be half of a character.
struct TokenText {
    std::int32_t id = 0;
    std::string bytes;

    friend bool operator==(const TokenText&, const TokenText&) = default;
};

// The token picked after a span, with the two largest logits. The distance between them tells a
// near-tie, where a rounding difference could have picked the other one.
struct Sampled {
    TokenText token;
    float logit = 0;
    float margin = 0;  // largest minus second largest logit

    friend bool operator==(const Sampled&, const Sampled&) = default;
};

// The tokens of one sequence that this step computed.
struct SpanRecord {
    std::int32_t sequence = 0;
    std::int64_t first_position = 0;
    std::vector<TokenText> tokens;  // (n_new)
    std::int64_t logit_rows = 1;    // rows of logits computed, the last positions of the span
    std::vector<Sampled> sampled;   // empty (prompt not finished) or one

    friend bool operator==(const SpanRecord&, const SpanRecord&) = default;
};

enum class PoolEventKind : std::uint8_t {
    allocate,
    share,
    copy_on_write,
    free,
    free_refused,
    preempt,
    swap_out,
    swap_in,
    resume,
};
const char* name(PoolEventKind kind);

// Something happened to a block of the paged cache, or to all blocks of a sequence (block = -1).
// When, within the step: a `free` by a sequence that takes part in the step comes after its pass
// (the sequence has finished); every other event comes before it, in the order of the list.
// `allocate` and `share` append the block to the sequence's block table.
struct PoolEvent {
    PoolEventKind kind = PoolEventKind::allocate;
    std::int32_t sequence = 0;
    std::int64_t block = -1;
    std::int64_t from_block = -1;  // copy_on_write: where the rows came from

    friend bool operator==(const PoolEvent&, const PoolEvent&) = default;
};

// The numbers in the rows of one (sequence, layer, KV head, kind) from position_begin on, as they
// lie in the cache. Optional. Rows whose codes are the ones last listed for their position may be
// left out: a decoder without a cache stores the same rows anew in every step.
struct StoredRows {
    std::int32_t sequence = 0, layer = 0, kv_head = 0;
    Kind kind = Kind::key;
    std::int64_t position_begin = 0;
    std::string codes;  // (positions, D) of Lane::kv_cache_dtype, the bytes of each lowest first

    friend bool operator==(const StoredRows&, const StoredRows&) = default;
};

// What storing rows in a narrow format did to their values.
struct StoreLoss {
    std::int32_t layer = 0;
    std::int64_t saturated = 0;   // values beyond the largest finite one, stored as that one
    std::int64_t non_finite = 0;  // stored infinities and NaNs
    float worst_relative_error = 0;

    friend bool operator==(const StoreLoss&, const StoreLoss&) = default;
};

// Softmax weights of one query of one head, over the keys 0 .. weights.size() - 1. Optional.
struct AttentionWeights {
    std::int32_t sequence = 0, layer = 0, head = 0;
    std::int64_t query = 0;
    std::vector<float> weights;

    friend bool operator==(const AttentionWeights&, const AttentionWeights&) = default;
};

// Requests at the end of the step.
struct QueueState {
    std::int64_t running = 0, waiting = 0, swapped = 0;
    friend bool operator==(const QueueState&, const QueueState&) = default;
};

// One forward pass over a batch of spans, by one lane.
struct Step {
    std::int64_t index = 0;  // counts the steps of its lane from 0
    std::int32_t lane = 0;   // into TapeHeader::lanes
    Phase phase = Phase::prefill;
    std::vector<SpanRecord> spans;
    std::vector<WriteRun> writes;  // canonical
    std::vector<ReadRun> reads;    // canonical
    FlopCounts flops;
    std::int64_t kv_bytes_written = 0;  // rows written * D * bytes per element
    std::int64_t kv_bytes_read = 0;     // rows fetched * D * bytes per element
    std::int64_t kv_bytes_held = 0;     // storage in use after the step
    std::vector<PoolEvent> pool;
    std::vector<StoredRows> rows;   // sorted by sequence, layer, KV head, kind and position
    std::vector<StoreLoss> losses;  // only layers with something to report
    std::vector<AttentionWeights> attention;
    QueueState queue;
    std::int64_t wall_ns = 0;  // the only field that differs between two runs of the same command
};

}  // namespace kvtape
