#include "reference_cpu/decoder.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/check.h"
#include "core/fnv1a.h"
#include "tracer/recorder.h"

namespace kvtape {
namespace {

constexpr SequenceId the_sequence = 0;

}  // namespace

template <class Tracer>
Decoder<Tracer>::Decoder(const Model<float>& model, KvCache& cache, Tracer& tracer, Team& team,
                         const Request& request, const LengthLimit& limit, std::int32_t lane,
                         TokenBytes bytes_of)
    : model_(model),
      cache_(cache),
      tracer_(tracer),
      team_(team),
      request_(request),
      limit_(limit),
      lane_(lane),
      bytes_of_(std::move(bytes_of)),
      max_tokens_(admit(request, limit)),
      tokens_(request.prompt),
      random_(request.sampling.seed) {
    // Rows of an earlier text would be taken for a prefix of this one.
    KVTAPE_CHECK(cache.length(the_sequence), ==, 0);
    generation_.logits_hash = fnv1a_start;
}

template <class Tracer>
const PassReport& Decoder<Tracer>::step() {
    KVTAPE_CHECK(finished(), ==, false);
    const std::int64_t prompt = std::ssize(request_.prompt);
    const std::int64_t known = std::ssize(tokens_);

    // [lesson:one-step]
    // Feed what the cache does not hold, up to the end of the next chunk of the prompt or, once the
    // prompt is done, up to the newest token.
    const std::int64_t begin = cache_.length(the_sequence);
    const std::int64_t chunk = request_.prefill_chunk > 0 ? request_.prefill_chunk : prompt;
    const std::int64_t end = fed_ < prompt ? std::min(fed_ + chunk, prompt) : known;
    const bool prompt_done = end >= prompt;
    // [/lesson]

    Span span{the_sequence, begin, std::span(tokens_).subspan(begin, end - begin)};
    span.logit_rows = request_.all_logits ? end - std::max(begin, fed_) : (prompt_done ? 1 : 0);

    const auto start = std::chrono::steady_clock::now();
    result_ = forward(model_, {span}, cache_, tracer_, team_);
    const std::chrono::nanoseconds wall = std::chrono::steady_clock::now() - start;
    seconds_since_token_ += std::chrono::duration<double>(wall).count();

    SpanRecord record_of_span;
    record_of_span.sequence = the_sequence;
    record_of_span.first_position = begin;
    record_of_span.logit_rows = span.logit_rows;
    report_.step.phase = fed_ < prompt ? Phase::prefill : Phase::decode;
    if (Tracer::enabled) {
        for (const std::int32_t id : span.tokens) {
            record_of_span.tokens.push_back({id, bytes_of_ ? bytes_of_(id) : ""});
        }
    }
    fed_ = end;
    report_.logits = result_.logits;
    report_.first_logit_position = end - span.logit_rows;
    if (prompt_done) {
        pick_token(report_.logits.last(static_cast<std::size_t>(model_.config.shape.vocab)),
                   record_of_span);
    }
    record(std::move(record_of_span), std::move(result_.losses), wall.count());
    return report_;
}

template <class Tracer>
void Decoder<Tracer>::pick_token(std::span<const float> last_row, SpanRecord& span) {
    if (const auto id = first_not_finite(last_row)) {
        return end_with_failure(not_finite_text(*id, last_row[*id]));
    }
    const Pick picked = pick(last_row, request_.sampling, random_);
    const bool first = generation_.token_ids.empty();
    generation_.logits_hash =
        fnv1a(last_row.data(), last_row.size_bytes(), generation_.logits_hash);
    generation_.smallest_margin =
        first ? picked.margin : std::min(generation_.smallest_margin, picked.margin);
    generation_.token_ids.push_back(picked.id);
    tokens_.push_back(picked.id);
    if (first) {
        generation_.ttft_seconds = seconds_since_token_;
    } else {
        generation_.itl_seconds.push_back(seconds_since_token_);
    }
    seconds_since_token_ = 0;
    span.sampled.push_back(
        {{picked.id, bytes_of_ ? bytes_of_(picked.id) : ""}, picked.logit, picked.margin});

    const std::vector<std::int32_t>& stops = request_.stop_ids;
    if (std::find(stops.begin(), stops.end(), picked.id) != stops.end()) {
        generation_.finish_reason = FinishReason::stop;
        generation_.finish_detail = "the model ended the text";
    } else if (std::ssize(generation_.token_ids) == max_tokens_) {
        generation_.finish_reason = FinishReason::length;
        generation_.finish_detail =
            request_.max_tokens ? "max_tokens " + std::to_string(max_tokens_)
                                : limit_.reason + ", " + std::to_string(limit_.tokens) + " tokens";
    }
}

template <class Tracer>
void Decoder<Tracer>::end_with_failure(const std::string& why) {
    std::int64_t non_finite = generation_.losses.non_finite;
    for (const StoreCounts& loss : result_.losses) non_finite += loss.non_finite;
    std::string cause = "the weights are damaged, or too large to compute with in float32";
    if (non_finite > 0) {
        cause = std::to_string(non_finite) + " values were stored as infinity or NaN in the " +
                name(cache_.dtype()) + " cache, use a --kv-cache-dtype with a larger range";
    }
    generation_.finish_reason = FinishReason::failed;
    generation_.finish_detail = why + "; " + cause;
}

template <class Tracer>
void Decoder<Tracer>::record(SpanRecord span, std::vector<StoreCounts> losses,
                             std::int64_t wall_ns) {
    Step& step = report_.step;
    step.lane = lane_;
    step.wall_ns = wall_ns;
    step.kv_bytes_held = cache_.bytes_held();
    step.pool = cache_.take_pool_events();
    step.queue.running = finished() ? 0 : 1;
    step.losses.clear();
    for (std::size_t layer = 0; layer < losses.size(); ++layer) {
        const StoreCounts& loss = losses[layer];
        generation_.losses.saturated += loss.saturated;
        generation_.losses.non_finite += loss.non_finite;
        generation_.losses.worst_relative_error =
            std::max(generation_.losses.worst_relative_error, loss.worst_relative_error);
        if (loss == StoreCounts{}) continue;
        step.losses.push_back({static_cast<std::int32_t>(layer), loss.saturated, loss.non_finite,
                               loss.worst_relative_error});
    }
    step.spans.assign(1, std::move(span));

    if constexpr (Tracer::enabled) {
        auto accesses = tracer_.take_step();
        step.writes = std::move(accesses.writes);
        step.reads = std::move(accesses.reads);
        step.rows = std::move(accesses.rows);
        step.flops = accesses.flops;
        report_.digests = std::move(accesses.digests);
        step.kv_bytes_written = 0;
        step.kv_bytes_read = 0;
        for (const WriteRun& run : step.writes) {
            step.kv_bytes_written += run.rows() * cache_.row_bytes();
        }
        for (const ReadRun& run : step.reads) {
            step.kv_bytes_read += run.rows_fetched() * cache_.row_bytes();
        }
    }
    step.index = steps_++;
}

template class Decoder<NullTracer>;
template class Decoder<Recorder>;

}  // namespace kvtape
