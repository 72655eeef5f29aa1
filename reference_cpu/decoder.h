// Decoding one sequence, a forward pass at a time: prefill the prompt, pick a token, feed it, pick
// the next. The same loop serves all caches: a pass is given the tokens from cache.length() on,
// which is one token for a cache that holds the others and the whole prefix for NoCache.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.h"
#include "reference_cpu/forward.h"
#include "reference_cpu/request.h"
#include "tracer/recorder.h"
#include "tracer/step.h"

namespace kvtape {

// `failed`: a logit was NaN or infinite, so no token could be picked.
enum class FinishReason { unfinished, stop, length, failed };

// Everything known about a generation so far.
struct Generation {
    std::vector<std::int32_t> token_ids;  // generated
    FinishReason finish_reason = FinishReason::unfinished;
    std::string finish_detail;        // which limit was reached, or what failed
    std::uint64_t logits_hash = 0;    // FNV-1a over the rows of logits that tokens were picked from
    double ttft_seconds = 0;          // time to first token: all of prefill
    std::vector<double> itl_seconds;  // inter-token latencies: one per token after the first
    float smallest_margin = 0;        // of the picks so far
    StoreCounts losses;               // of all steps and layers
};

// One finished pass. The members are valid until the next one.
struct PassReport {
    Step step;                       // runs and FLOPs only if the tracer is enabled
    std::vector<RowDigest> digests;  // only if the recorder keeps them
    std::span<const float> logits;   // (logit_rows, V)
    std::int64_t first_logit_position = 0;
};

// The bytes a token id stands for; used for the text on the tape.
using TokenBytes = std::function<std::string(std::int32_t)>;

template <class Tracer>
class Decoder {
  public:
    // Throws Error when the request does not fit (see admit()). The cache holds nothing of sequence
    // 0. All references outlive the decoder.
    //   lane      index of this decoder among the lanes of the tape
    //   bytes_of  may be empty: the tape then has ids without text
    Decoder(const Model<float>& model, KvCache& cache, Tracer& tracer, Team& team,
            const Request& request, const LengthLimit& limit, std::int32_t lane = 0,
            TokenBytes bytes_of = {});

    bool finished() const { return generation_.finish_reason != FinishReason::unfinished; }

    // Runs one forward pass: the next chunk of the prompt, or one decode step. Call while
    // !finished(). A pass whose logits are not finite is reported like any other, so that a tape
    // can show where they come from; it picks no token and ends the generation.
    const PassReport& step();

    const Generation& generation() const { return generation_; }

  private:
    void pick_token(std::span<const float> last_row /* (V) */, SpanRecord& span);
    void end_with_failure(const std::string& why);
    void record(SpanRecord span, std::vector<StoreCounts> losses, std::int64_t wall_ns);

    const Model<float>& model_;
    KvCache& cache_;
    Tracer& tracer_;
    Team& team_;
    Request request_;
    LengthLimit limit_;
    std::int32_t lane_;
    TokenBytes bytes_of_;

    std::int64_t max_tokens_;           // new tokens at most
    std::vector<std::int32_t> tokens_;  // prompt and generated
    std::int64_t fed_ = 0;              // tokens the model has seen at least once
    Random random_;
    Generation generation_;
    PassResult<float> result_;
    PassReport report_;
    std::int64_t steps_ = 0;
    double seconds_since_token_ = 0;
};

}  // namespace kvtape
