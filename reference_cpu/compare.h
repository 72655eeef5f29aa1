// Several decoders on the same prompt, one pass of each in turn, and the proof that they do the
// same: the logits of every step, and every K and V row that any of them stores, have equal bits.
//
// Logits are compared by memcmp. Rows are compared by a 64-bit hash of their codes, so that those
// of a large model need not be kept: two different rows pass for equal once in 2^64 pairs. (The
// tests compare the codes themselves: tests/support/transcript.h.)
//
// NoCache computes all rows of the prefix again at every step. Each time, they must have the bits
// that the cached decoders stored once; that is what makes caching exact.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference_cpu/decoder.h"
#include "tracer/recorder.h"

namespace kvtape {

// What one decoder did in all.
struct DecoderTotals {
    Lane lane;
    Generation generation;
    FlopCounts flops;
    std::int64_t passes = 0;
    std::int64_t kv_rows_written = 0;
    std::int64_t kv_rows_read = 0;     // per query head
    std::int64_t kv_rows_fetched = 0;  // a group of query heads shares a fetch
    std::int64_t kv_bytes_held = 0;    // after the last step
    double seconds = 0;                // in forward passes
};

// Where a decoder first computed something else than the first decoder.
struct Difference {
    std::string decoder;    // name of its lane
    std::int64_t step;      // pass of the decoder
    std::int64_t layer;     // -1: the rows were equal, the logits were not
    std::int64_t position;  // in the sequence
    std::string what;       // "K row of KV head 1", "logits", ...
};

enum class Verdict {
    equal_bits,  // every logit and, by its hash, every stored row
    rounding,    // logits differ by no more than `rounding_tolerance`, and so do no picks
    near_tie,    // another token was picked, but the two were closer than the tolerance
    different,   // a real difference
};
const char* name(Verdict verdict);

// Logits of a float32 model computed in another order differ by rounding only. For the small models
// of the tests and the shipped one, 1e-5 is some ten times the difference seen; a shifted row gives
// 1e-2.
inline constexpr float rounding_tolerance = 1e-5f;

struct Comparison {
    std::vector<DecoderTotals> decoders;
    Verdict verdict = Verdict::equal_bits;
    std::optional<Difference> first_difference;
    float largest_logit_difference = 0;
    float smallest_margin = 0;  // of all picks: how near the nearest tie was
};

// Runs one decoder per cache in lockstep, until all are finished or a difference was found.
//   on_step   called after every pass, with the step as it goes to the tape; may be empty
//   keep_rows whether these steps hold the numbers of the rows that were stored, too
Comparison compare(const Model<float>& model, const std::vector<std::unique_ptr<KvCache>>& caches,
                   Team& team, const Request& request, const LengthLimit& limit,
                   const TokenBytes& bytes_of, const std::function<void(const Step&)>& on_step,
                   bool keep_rows = false);

}  // namespace kvtape
